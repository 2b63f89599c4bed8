"""The intermediate representation (IR): nodes, builder, verifier, and emitters for LLVM and Python."""
