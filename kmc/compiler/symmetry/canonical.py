"""The kernel that chooses the canonical representative of an orbit: it orders members by their signatures.

`permutation(row)` is a table: for every member of the permuted classes, class by class, four bits with its new index
within its class. Invariant: all states of an orbit are permuted to the same state. A signature moves with its member,
so the order by signature is the same in the whole orbit. Signatures are computed in the order of their cost, each only
for members that are still tied. Among members with equal signatures all orders are tried, and the permuted state with
the least hash wins. That hash uses other salts than the fingerprint, so the fingerprint of the chosen state is not the
least of several.

Members usually have equal signatures because they are interchangeable. Every order of a group can be made by exchanging
its first two members and by rotating it: if neither changes the hash, no order does, and the others are not tried.

Members that a spawned type has not given out yet keep their indices.
"""

from __future__ import annotations

from typing import Any

from kmc.compiler.ir import build as x
from kmc.compiler.ir.nodes import Break, CallKernel, Const, Expr, Function, If, Intrinsic, Let, Return, Stmt, Var
from kmc.compiler.symmetry.member_change import MEMBER_BITS
from kmc.compiler.symmetry.signatures import ROW, Signatures, Subject, keys_in_use
from kmc.compiler.values.code import Code
from kmc.runtime.state_layout import WORD

MEMBERS_MAX = 16
"""Members of all permuted classes together: a table is one word."""


class CanonicalPermutation:
    """Makes `permutation` for a subject; `weigh` is the kernel `(row, table)` whose least result breaks ties."""

    def __init__(self, subject: Subject, prefix: str, weigh: str) -> None:
        self._subject = subject
        self._prefix = prefix
        self._weigh = weigh
        self._signatures = [Signatures(subject, index, prefix) for index in range(len(subject.classes))]
        self._firsts = firsts(subject.classes)
        self._members = [
            (index, member) for index, cls in enumerate(subject.classes) for member in range(len(cls.members))
        ]
        self._refines = any(signatures.has_seen() for signatures in self._signatures)
        # Own signatures of several classes take those of all members of earlier classes.
        self._begins_fixed = len(self._signatures) == 1 and self._signatures[0].has_fixed()

    @property
    def name(self) -> str:
        """The kernel that gives the table."""
        return f"{self._prefix}_permutation"

    def functions(self) -> list[Function]:
        """`permutation` and the functions that it calls."""
        kernels_made = [signatures.own() for signatures in self._signatures]
        kernels_made += [next_order_function(self._prefix, len(self._members)), self._pick()]
        if self._refines:
            kernels_made += [signatures.seen() for signatures in self._signatures if signatures.has_seen()]
            kernels = [signatures.seen_name if signatures.has_seen() else None for signatures in self._signatures]
            kernels_made.append(self._refined("refine", kernels, "pick"))
        if self._begins_fixed:
            (signatures,) = self._signatures
            following = "refine" if self._refines else "pick"
            kernels_made += [signatures.fixed(), self._refined("compare", [signatures.own_name], following)]
        return [*kernels_made, self._permutation()]

    def _nibble(self, word: Expr, index: int, member: int) -> Expr:
        return x.extract(word, MEMBER_BITS * (self._firsts[index] + member), MEMBER_BITS)

    def _permutation(self) -> Function:
        """Order by own signatures, or by the bits that no permutation changes; with ties, refine or pick."""
        code = Code(self.name)
        given: list[Expr] = []
        bases: list[Expr] = []
        tied: Expr = x.ZERO
        for index, signatures in enumerate(self._signatures):
            count = len(self._subject.classes[index].members)
            own: list[Expr] = []
            for member in range(count):
                target = code.fresh("own")
                arguments = (Const(member), *given)
                kernel = signatures.fixed_name if self._begins_fixed else signatures.own_name
                code.emit(CallKernel(target, kernel, ((ROW, x.ZERO),), arguments))
                own.append(Var(target))
            given += own
            used = self._used_flags(code, index)
            for member in range(count):
                base: Expr = x.ZERO
                for other in range(count):
                    if other == member:
                        continue
                    both = x.both(used[member], used[other])
                    base = x.add(base, x.both(both, x.binary("ult", own[other], own[member])))
                    if other < member:
                        tied = x.either(tied, x.both(both, x.eq(own[other], own[member])))
                bases.append(code.keep(x.select(used[member], base, Const(member)), "base"))
        table = code.keep(self._table_of(bases), "table")
        slow = f"{self._prefix}_{'compare' if self._begins_fixed else 'refine' if self._refines else 'pick'}"
        code.emit(If(x.eq(tied, x.ZERO), (Return(table),)))
        code.emit(CallKernel("picked", slow, ((ROW, x.ZERO),), (table,)), Return(Var("picked")))
        return Function(self.name, (ROW,), (), code.statements(), frozenset({ROW}))

    def _used_flags(self, code: Code, index: int) -> list[Expr]:
        """For each member of a class, 1 if it may be permuted; always 1 unless the class is spawned."""
        cls = self._subject.classes[index]
        if cls.started is None:
            return [x.ONE] * len(cls.members)
        mask = code.keep(keys_in_use(self._subject, cls), "used")
        # Members are given out in order. If a state breaks that, none is permuted.
        in_order = code.keep(x.eq(x.binary("and", mask, x.add(mask, x.ONE)), x.ZERO), "in_order")
        return [code.keep(x.both(in_order, x.extract(mask, k, 1)), "used") for k in range(len(cls.members))]

    def _table_of(self, images: list[Expr]) -> Expr:
        table: Expr = x.ZERO
        for (index, member), image in zip(self._members, images, strict=True):
            table = x.binary("or", table, x.place_at(image, MEMBER_BITS * (self._firsts[index] + member)))
        return table

    def _same_base(self, index: int, member: int, other: int) -> Expr:
        table = Var("table")
        return x.eq(self._nibble(table, index, member), self._nibble(table, index, other))

    def _refined(self, name: str, kernels: list[str | None], following: str) -> Function:
        """Order members that share an index in `table` by another signature; with ties, go on with `following`."""
        code = Code(f"{self._prefix}_{name}")
        bases: list[Expr] = []
        tied: Expr = x.ZERO
        for index, cls in enumerate(self._subject.classes):
            count = len(cls.members)
            alike = {
                (member, other): code.keep(self._same_base(index, member, other), "alike")
                for member in range(count)
                for other in range(member + 1, count)
            }
            seen = [self._signature_among_equals(code, kernels[index], member, alike) for member in range(count)]
            for (member, other), pair in alike.items():
                tied = x.either(tied, x.both(pair, x.eq(seen[member], seen[other])))
            for member in range(count):
                base = self._nibble(Var("table"), index, member)
                for other in range(count):
                    if other != member:
                        pair = alike[min(member, other), max(member, other)]
                        base = x.add(base, x.both(pair, x.binary("ult", seen[other], seen[member])))
                bases.append(code.keep(base, "base"))
        ordered = code.keep(self._table_of(bases), "ordered")
        code.emit(If(x.eq(tied, x.ZERO), (Return(ordered),)))
        code.emit(CallKernel("picked", f"{self._prefix}_{following}", ((ROW, x.ZERO),), (ordered,)))
        code.emit(Return(Var("picked")))
        return Function(f"{self._prefix}_{name}", (ROW,), ("table",), code.statements(), frozenset({ROW}))

    def _signature_among_equals(
        self, code: Code, kernel: str | None, member: int, alike: dict[tuple[int, int], Expr]
    ) -> Expr:
        """A signature of a member that looks like another so far; 0 for other members."""
        if kernel is None:
            return x.ZERO
        name, signature = code.fresh("seen"), code.fresh("found")
        asked: Expr = x.ZERO
        for pair, equal in alike.items():
            if member in pair:
                asked = x.either(asked, equal)
        call = CallKernel(signature, kernel, ((ROW, x.ZERO),), (Const(member),))
        code.emit(Let(name, x.ZERO), If(asked, (call, Let(name, Var(signature)))))
        return Var(name)

    def _pick(self) -> Function:
        """The order of least weight among all that keep members with equal nibbles of `table` adjacent."""
        code = Code(f"{self._prefix}_pick")
        images: list[Expr] = []
        same: Expr = x.ZERO
        for index, member in self._members:
            base = self._nibble(Var("table"), index, member)
            before = [code.keep(self._same_base(index, other, member)) for other in range(member)]
            image = code.keep(sum_of([base, *before]), "place")
            images.append(image)
            any_before = x.ZERO if not before else code.keep(x.binary("ult", base, image))
            # Bit p says that the members at places p and p + 1 look alike.
            at = x.add(Const(self._firsts[index]), x.sub(image, x.ONE))
            same = x.binary("or", same, x.select(any_before, x.place_at(x.ONE, at), x.ZERO))
        same = code.keep(same, "same")
        code.emit(Let("best", self._table_of(images)), If(x.eq(same, x.ZERO), (Return(Var("best")),)))
        code.emit(Let("order", self._order(images)), *self._weighed("weight", Var("best")))
        self._skip_if_interchangeable(code, same)
        self._try_all(code, same)
        code.emit(Return(Var("best")))
        return Function(f"{self._prefix}_pick", (ROW,), ("table",), code.statements(), frozenset({ROW}))

    def _weighed(self, target: str, table: Expr) -> tuple[Stmt, ...]:
        return (CallKernel(target, self._weigh, ((ROW, x.ZERO),), (table,)),)

    def _order(self, images: list[Expr]) -> Expr:
        """The inverse of a table: the member at each place."""
        order: Expr = x.ZERO
        for (index, member), image in zip(self._members, images, strict=True):
            at = x.binary("mul", x.add(image, Const(self._firsts[index])), Const(MEMBER_BITS))
            order = x.binary("or", order, x.place_at(Const(self._firsts[index] + member), at))
        return order

    def _table(self, code: Code, order: Expr) -> Expr:
        """The table of an order."""
        table: Expr = x.ZERO
        position = 0
        for cls in self._subject.classes:
            for local in range(len(cls.members)):
                who = x.extract(order, MEMBER_BITS * position, MEMBER_BITS)
                at = x.binary("mul", who, Const(MEMBER_BITS))
                table = x.binary("or", table, x.place_at(Const(local), at))
                position += 1
        return code.keep(table, "table")

    def _skip_if_interchangeable(self, code: Code, same: Expr) -> None:
        """Return the first order if all members with equal signatures are interchangeable.

        In each group, two changes of the order are tried, from which all others can be made: the exchange of the first
        two members, and the rotation of the whole group. Neither may change the weight.
        """
        several = x.binary("ult", x.ONE, Intrinsic("popcount", (same,)))
        order = Var("order")

        def attempt_at(position: Expr) -> None:
            begins = x.negate(x.extract(x.binary("shl", same, x.ONE), position, 1))
            ends = x.negate(x.extract(x.binary("lshr", same, x.ONE), position, 1))
            low = code.keep(x.binary("mul", position, Const(MEMBER_BITS)))
            exchanged = code.capture(lambda: code.emit(Let("first", low), Let("turned", _exchanged(code, order, low))))
            rotated = code.capture(lambda: code.emit(Let("turned", _rotated(code, order, Var("first"), low))))
            code.emit(Let("turned", order))
            code.branch(begins, exchanged, code.capture(lambda: code.branch(ends, rotated)))
            code.branch(x.negate(x.eq(Var("turned"), order)), code.capture(compare))

        def compare() -> None:
            code.emit(*self._weighed("other", self._table(code, Var("turned"))))
            code.emit(If(x.negate(x.eq(Var("other"), Var("weight"))), (Let("alike", x.ZERO), Break("attempts"))))

        def one(position: Expr) -> None:
            code.branch(x.extract(same, position, 1), code.capture(lambda: attempt_at(position)))

        def attempt() -> None:
            code.emit(Let("alike", x.ONE), Let("first", x.ZERO))
            body = code.capture(lambda: code.count_up(x.ZERO, Const(len(self._members) - 1), one, "place"))
            code.block("attempts", body)
            code.emit(If(Var("alike"), (Return(Var("best")),)))

        code.branch(several, code.capture(attempt))

    def _try_all(self, code: Code, same: Expr) -> None:
        """Weigh every other order."""

        def one() -> None:
            code.emit(CallKernel("order_next", f"{self._prefix}_next", (), (Var("order"), same)))
            code.emit(If(x.eq(Var("order_next"), Const(-1)), (Break("orders"),)), Let("order", Var("order_next")))
            table = self._table(code, Var("order"))
            code.emit(*self._weighed("weight_next", table))
            less = x.binary("ult", Var("weight_next"), Var("least"))
            code.emit(If(less, (Let("least", Var("weight_next")), Let("best", table))))

        code.emit(Let("least", Var("weight")))
        code.loop("orders", code.capture(one))


def _exchanged(code: Code, order: Expr, low: Expr) -> Expr:
    """An order with two neighbours exchanged, of which the bits of the first begin at `low`."""
    high = x.add(low, Const(MEMBER_BITS))
    difference = x.binary("xor", x.extract(order, low, MEMBER_BITS), x.extract(order, high, MEMBER_BITS))
    difference = code.keep(difference)
    return x.binary("xor", order, x.binary("or", x.place_at(difference, low), x.place_at(difference, high)))


def _rotated(code: Code, order: Expr, low: Expr, last: Expr) -> Expr:
    """An order with a group rotated by one place: its bits begin at `low`, those of its last pair at `last`."""
    # A group is at least two members, and at most 64 bits.
    width = code.keep(x.add(x.sub(last, low), Const(2 * MEMBER_BITS)))
    mask = code.keep(x.binary("lshr", Const(-1), x.sub(Const(WORD), width)))
    group = code.keep(x.binary("and", x.binary("lshr", order, low), mask))
    end = x.sub(width, Const(MEMBER_BITS))
    turned = x.binary("or", x.binary("lshr", group, Const(MEMBER_BITS)), x.binary("shl", group, end))
    difference = x.binary("xor", group, x.binary("and", turned, mask))
    return x.binary("xor", order, x.binary("shl", difference, low))


def firsts(classes: tuple[Any, ...]) -> tuple[int, ...]:
    """The number of the first member of each class; members are numbered across all classes."""
    return tuple(sum(len(cls.members) for cls in classes[:index]) for index in range(len(classes)))


def identity_table(classes: tuple[Any, ...]) -> int:
    """The table of the identity permutation."""
    images = [image for cls in classes for image in range(len(cls.members))]
    return x.signed(sum(image << (MEMBER_BITS * k) for k, image in enumerate(images)))


def sum_of(terms: list[Expr]) -> Expr:
    """The sum of some words."""
    total: Expr = x.ZERO
    for term in terms:
        total = x.add(total, term)
    return total


def next_order_function(prefix: str, members: int) -> Function:
    """The next order in lexicographic order within the groups that `same` describes, or -1 after the last.

    `order` has four bits per place; bit p of `same` is set if places p and p + 1 belong to one group.
    """
    code = Code(f"{prefix}_next")
    order, same = Var("order"), Var("same")

    def at(position: Expr) -> Expr:
        return x.extract(order, x.binary("mul", position, Const(MEMBER_BITS)), MEMBER_BITS)

    def swap(first: Expr, second: Expr) -> None:
        difference = code.keep(x.binary("xor", at(first), at(second)))
        low = x.place_at(difference, x.binary("mul", first, Const(MEMBER_BITS)))
        high = x.place_at(difference, x.binary("mul", second, Const(MEMBER_BITS)))
        code.emit(Let("order", x.binary("xor", order, x.binary("or", low, high))))

    def grouped(position: Expr) -> Expr:
        return x.extract(same, position, 1)

    def rising(position: Expr) -> None:
        rises = x.both(grouped(position), x.binary("ult", at(position), at(x.add(position, x.ONE))))
        code.emit(If(rises, (Let("pivot", position),)))

    def larger(position: Expr) -> None:
        stop = x.negate(grouped(x.sub(position, x.ONE)))
        code.emit(If(stop, (Break("search"),)))
        code.emit(If(x.binary("ult", at(Var("pivot")), at(position)), (Let("next", position),)))

    def reverse() -> None:
        code.emit(If(x.binary("sle", Const(members - 1), Var("from")), (Break("groups"),)), Let("to", Var("from")))
        code.loop("run", [If(x.negate(grouped(Var("to"))), (Break("run"),)), Let("to", x.add(Var("to"), x.ONE))])
        code.emit(Let("after", x.add(Var("to"), x.ONE)))
        code.loop("turn", code.capture(turn))
        code.emit(Let("from", Var("after")))

    def turn() -> None:
        code.emit(If(x.binary("sle", Var("to"), Var("from")), (Break("turn"),)))
        swap(Var("from"), Var("to"))
        code.emit(Let("from", x.add(Var("from"), x.ONE)), Let("to", x.sub(Var("to"), x.ONE)))

    code.emit(Let("pivot", Const(-1)))
    code.count_up(x.ZERO, Const(members - 1), rising)
    code.emit(If(x.eq(Var("pivot"), Const(-1)), (Return(Const(-1)),)), Let("next", x.add(Var("pivot"), x.ONE)))
    search = code.capture(lambda: code.count_up(x.add(Var("pivot"), x.ONE), Const(members), larger))
    code.block("search", search)
    swap(Var("pivot"), Var("next"))
    code.emit(Let("from", x.add(Var("pivot"), x.ONE)))
    code.loop("groups", code.capture(reverse))
    code.emit(Return(order))
    return Function(f"{prefix}_next", (), ("order", "same"), code.statements())
