"""Which names are one dataset, and why: classes of names, joined by evidence and split by people.

The classes depend on what is known, not on the order in which it arrived. Most evidence joins two names permanently,
which a union-find keeps. Three rules can split a class again; they are re-evaluated lazily, when their input changes:

- Names that people split stay apart. Within their component, links join in a fixed order, the strongest first, and a
  link that would bring split names together is skipped.
- A rename that failed, which may be known only later, joins nothing; nor do links then that would need it.
- A loose name belongs to the only class that claims it. If several do, it is ambiguous and belongs to none; nor does it
  join a class that has already adopted a name it was split from, in the order of the names. Loose names are incomplete
  ones (without a namespace), and those of tables in Flink's in-memory catalog.
"""

from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain
from typing import Final, Literal, NamedTuple

from headwater.graph.catalogs import Catalogs, Pair
from headwater.model.facts import Alias, CatalogEntry, EngineCatalog
from headwater.model.merging import Seen, widened
from headwater.model.names import DatasetId
from headwater.model.spelling import normal

Reason = Literal["symlinks", "rename", "catalog", "configuration", "spelling", "catalog name"]

_IN_MEMORY: Final = "default_catalog."
"""Prefix of tables in Flink's in-memory catalog: each program has its own."""

_LINK_RANK: Final[Mapping[Reason, int]] = {
    "spelling": 0,
    "catalog": 1,
    "configuration": 2,
    "symlinks": 3,
    "rename": 4,
    "catalog name": 5,
}
"""Which links join first where names were split: spelling first, then what identifies the table itself."""


class Link(NamedTuple):
    """Evidence that two names are one dataset; `seen` is None where the names themselves are the evidence."""

    name: DatasetId
    other: DatasetId
    reason: Reason
    seen: Seen | None


Class = frozenset[DatasetId]


class Identities:
    """Equivalence classes of names that mean one dataset; they merge as evidence arrives."""

    def __init__(self) -> None:
        self._parent: dict[DatasetId, DatasetId] = {}
        self._members: dict[DatasetId, set[DatasetId]] = {}
        self._links: dict[DatasetId, dict[tuple[DatasetId, Reason], Seen]] = defaultdict(dict)
        self._names: dict[DatasetId, None] = {}
        self._known: set[DatasetId] = set()
        """The names in use now."""
        self._lasting: set[DatasetId] = set()
        """Names that evidence mentions: never forgotten, since the log keeps them."""
        self._spellings: dict[DatasetId, dict[DatasetId, None]] = defaultdict(dict)
        self._catalogs = Catalogs()
        self._claims: dict[DatasetId, dict[tuple[DatasetId, Reason], Seen]] = defaultdict(dict)
        self._loose: set[DatasetId] = set()
        self._apart: dict[DatasetId, set[DatasetId]] = defaultdict(set)
        self._failed: set[frozenset[DatasetId]] = set()
        """Pairs of names between which a rename failed."""
        self.changes = 0
        """Goes up whenever a class may have changed; for cache invalidation."""
        self._exceptions: dict[DatasetId, Class] | None = {}
        """The classes of the names that the three rules concern; None: stale, to be recomputed."""

    def note(self, name: DatasetId) -> None:
        """Register a name in use: its other spellings, also future ones, are the same dataset."""
        if name in self._known:
            return
        self._known.add(name)
        self._names.setdefault(name)
        if _is_loose(name):
            self._loose.add(name)
            self._recompute()
            return
        spellings = self._spellings[normal(name)]
        spellings[name] = None
        if (members := self._members.get(self._root(name))) is not None:
            members.add(name)  # known earlier, and forgotten
            self._recompute()
        self._join(name, next(iter(spellings)))
        self._join_all(self._catalogs.note(name))

    def forget(self, name: DatasetId) -> None:
        """Remove a name that is no longer in use: only a declaration used it, and that was replaced.

        No other name changes class: evidence is permanent, and spellings are all equivalent.
        """
        if name not in self._known or name in self._lasting:
            return
        self._known.discard(name)
        self._loose.discard(name)
        self._spellings[normal(name)].pop(name, None)
        self._members.get(self._root(name), set()).discard(name)
        self._recompute()

    def add_alias(self, fact: Alias) -> None:
        """Add that two names are one; a loose name is only claimed, since elsewhere it may mean another dataset."""
        self.note_for_good(fact.name, fact.alias)
        match _is_loose(fact.name), _is_loose(fact.alias):
            case False, False:
                self._link(fact.name, fact.alias, fact.evidence, fact.seen)
            case False, True:
                self._claim(fact.alias, fact.name, fact.evidence, fact.seen)
            case True, False:
                self._claim(fact.name, fact.alias, fact.evidence, fact.seen)

    def add_catalog_entry(self, fact: CatalogEntry) -> None:
        """Add that a dataset is a table of a catalog: all names of that table are one dataset.

        A loose name has no table: elsewhere it may mean another dataset.
        """
        self.note_for_good(fact.dataset)
        if _is_loose(fact.dataset):
            return
        self._claim(DatasetId("", f"{fact.catalog.name}.{fact.table}"), fact.dataset, "catalog name", fact.seen)
        self._join_all(self._catalogs.add_entry(fact))

    def add_engine_catalog(self, fact: EngineCatalog) -> None:
        """Add how an engine resolves the first part of its names: applies to names known now and later."""
        self._join_all(self._catalogs.add_engine(fact, self._known - self._loose))

    def note_for_good(self, *names: DatasetId) -> None:
        """Register names that are never forgotten: evidence has them, or they are in quarantine."""
        for name in names:
            self._lasting.add(name)
            self.note(name)

    def would_join(self, fact: Alias | CatalogEntry | EngineCatalog) -> frozenset[DatasetId]:
        """All names of the datasets that this evidence would merge; empty if it adds nothing new.

        A catalog counts as a name, with its address as the namespace: a fact that makes a dataset its table also joins
        the dataset to whatever is called that table later. Names without a namespace are ambiguous and left out.
        """
        joined: Iterable[DatasetId]
        match fact:
            case Alias(name=name, alias=alias):
                joined = () if self._is_nothing_new(fact) else (name, alias)
            case CatalogEntry():
                joined = () if _is_loose(fact.dataset) else self._catalogs.would_enter(fact)
            case EngineCatalog():
                joined = self._catalogs.would_resolve(fact, self._known - self._loose)
        return frozenset(each for name in joined for each in (name, *self.members(name)) if each.namespace)

    def _is_nothing_new(self, fact: Alias) -> bool:
        """Whether the fact changes nothing: it is known and did not fail, the two are one, or people split them."""
        name, alias, key = fact.name, fact.alias, (fact.alias, fact.evidence)
        is_known = key in self._links.get(name, {}) or (name, fact.evidence) in self._claims.get(alias, {})
        is_known = is_known or key in self._claims.get(name, {})
        is_known = is_known and not self._has_failed(name, alias, fact.evidence)
        return is_known or alias in self._apart.get(name, ()) or alias in self.members(name)

    def keep_apart(self, pairs: Iterable[tuple[DatasetId, DatasetId]]) -> None:
        """Replace the pairs of names that people split."""
        self._apart.clear()
        for one, other in pairs:
            self._apart[one].add(other)
            self._apart[other].add(one)
        self._recompute()

    def fail_rename(self, name: DatasetId, other: DatasetId, *, has_failed: bool) -> None:
        """Set whether all reported renames between these two names failed."""
        pair = frozenset((name, other))
        if (pair in self._failed) != has_failed:
            self._failed ^= {pair}
            self._recompute()

    def _has_failed(self, name: DatasetId, other: DatasetId, reason: Reason) -> bool:
        return reason == "rename" and bool(self._failed) and frozenset((name, other)) in self._failed

    def _link(self, name: DatasetId, other: DatasetId, reason: Reason, seen: Seen) -> None:
        for one, two in ((name, other), (other, name)):
            known = self._links[one].get((two, reason))
            self._links[one][two, reason] = widened(known, seen)
        if known is None:
            self._join(name, other)

    def _claim(self, claimed: DatasetId, by: DatasetId, reason: Reason, seen: Seen) -> None:
        claims = self._claims[claimed]
        if (by, reason) not in claims and claimed in self._loose:
            self._recompute()
        claims[by, reason] = widened(claims.get((by, reason)), seen)

    def _join_all(self, pairs: Iterable[Pair]) -> None:
        for name, other in pairs:
            self._join(name, other)

    def _join(self, name: DatasetId, other: DatasetId) -> None:
        one, two = self._root(name), self._root(other)
        if self._apart or self._failed or (self._loose and one != two):
            self._recompute()  # where names are split, another link within a component matters too
        if one == two:
            return
        self.changes += 1
        if len(self._members_of(one)) < len(self._members_of(two)):
            one, two = two, one
        self._parent[two] = one
        self._members[one] |= self._members.pop(two)

    def _members_of(self, root: DatasetId) -> set[DatasetId]:
        """The names of a component; empty for a single name that is no longer in use."""
        return self._members.setdefault(root, {root} & self._known)

    def _recompute(self) -> None:
        self._exceptions = None
        self.changes += 1

    @property
    def names(self) -> Mapping[DatasetId, None]:
        """Every name ever used, in order of arrival."""
        return self._names

    @property
    def has_engines(self) -> bool:
        """Whether any engine has reported how it resolves names."""
        return self._catalogs.has_engines

    @property
    def meant_namespaces(self) -> set[str]:
        """The namespaces of the names to which engines resolve theirs, as reported."""
        return self._catalogs.meant_namespaces

    @property
    def loose(self) -> Collection[DatasetId]:
        """The loose names in use."""
        return self._loose

    def joined(self) -> Iterator[DatasetId]:
        """The names that evidence ever joined with others, or may place, if they are loose."""
        return chain(*self._members.values(), self._loose & self._claims.keys())

    def parted(self) -> Iterator[DatasetId]:
        """The names that people split from others, and those between which a rename failed."""
        return chain(self._apart, *self._failed)

    def spellings_of(self, name: DatasetId) -> Iterable[DatasetId]:
        """The names in use that equal this one but for spelling, possibly including it."""
        return self._spellings.get(normal(name), ())

    def members(self, name: DatasetId) -> Iterable[DatasetId]:
        """All names in use of the dataset, in no order; an unused name has the members of its spellings."""
        if name not in self._known:
            return self.members(min(spellings)) if (spellings := self._spellings_of(name)) else (name,)
        exception = self.exceptions.get(name)
        return exception if exception is not None else self._members.get(self._root(name), (name,))

    def knows(self, name: DatasetId) -> bool:
        """Whether this exact name is in use or mentioned by evidence."""
        return name in self._known

    def is_alone(self, name: DatasetId) -> bool:
        """Whether this is the dataset's only name."""
        if name not in self._known:
            return not self._spellings_of(name)
        exceptions = self._exceptions if self._exceptions is not None else self.exceptions
        return name not in self._parent and name not in self._members and name not in exceptions

    def _spellings_of(self, unused: DatasetId) -> Mapping[DatasetId, None]:
        return {} if unused in self._apart else self._spellings.get(normal(unused), {})

    @property
    def only_joins(self) -> bool:
        """Whether new evidence can only join the classes it concerns: none of the three rules applies to any name."""
        return not (self._apart or self._failed or self._loose)

    def claimants(self, loose: DatasetId) -> list[DatasetId]:
        """The datasets that a loose name may mean, one name each, sorted."""
        return sorted({min(self.members(by)) for by in self._claiming(loose) if by.is_complete})

    def _claiming(self, loose: DatasetId) -> Iterator[DatasetId]:
        return (by for by, reason in self._claims.get(loose, {}) if not self._has_failed(by, loose, reason))

    def links(self, name: DatasetId) -> list[Link]:
        """The evidence that joins the names of the dataset, strongest first."""
        members = set(self.members(name))
        return sorted(set(self._links_within(members)), key=_link_order)

    def path(self, name: DatasetId, other: DatasetId) -> list[Link] | None:
        """The shortest chain of evidence from one name to the other; None if they are not one dataset."""
        members = set(self.members(name))
        by_name: dict[DatasetId, list[Link]] = defaultdict(list)
        for link in self.links(name):
            by_name[link.name].append(link)
            by_name[link.other].append(link)
        came_by: dict[DatasetId, Link | None] = {name: None}
        queue = deque([name])
        while queue and other not in came_by:
            for link in by_name[here := queue.popleft()]:
                there = link.other if link.name == here else link.name
                if there in members and there not in came_by:
                    came_by[there] = link
                    queue.append(there)
        return list(_way_back(other, came_by)) if other in came_by else None

    def _root(self, name: DatasetId) -> DatasetId:
        while (parent := self._parent.get(name)) is not None:
            name = parent
        return name

    @property
    def exceptions(self) -> Mapping[DatasetId, Class]:
        """The classes of the names that the three rules concern; never changed, but replaced."""
        if self._exceptions is None:
            self._exceptions = self._worked_out()
        return self._exceptions

    def _worked_out(self) -> dict[DatasetId, Class]:
        exceptions: dict[DatasetId, Class] = {}
        for root in set(map(self._root, self.parted())):
            for together in self._parted(self._members.get(root, {root})):
                exceptions |= dict.fromkeys(together, together)
        adopted: dict[Class, set[DatasetId]] = defaultdict(set)
        for loose in sorted(self._loose):
            apart = self._apart.get(loose, set())
            classes = {self._class(by, exceptions) for by in self._claiming(loose)}
            fitting = [each for each in classes if not apart & each]
            if len(fitting) == 1 and not apart & adopted[fitting[0]]:
                adopted[fitting[0]].add(loose)
        for own, others in adopted.items():
            exceptions |= dict.fromkeys(own | others, own | others)
        return exceptions

    def _class(self, name: DatasetId, exceptions: Mapping[DatasetId, Class]) -> Class:
        return exceptions.get(name) or frozenset(self._members.get(self._root(name), {name}))

    def _parted(self, component: set[DatasetId]) -> set[Class]:
        classes = {name: frozenset({name}) for name in component}
        for link in sorted(set(self._links_within(component)), key=_link_order):
            one, other = classes[link.name], classes[link.other]
            if not any(self._apart.get(name, set()) & other for name in one):
                classes |= dict.fromkeys(one | other, one | other)
        return set(classes.values())

    def _links_within(self, names: set[DatasetId]) -> Iterator[Link]:
        for name in names:
            for (other, reason), seen in (*self._links.get(name, {}).items(), *self._claims.get(name, {}).items()):
                if other in names and not self._has_failed(name, other, reason):
                    yield Link(min(name, other), max(name, other), reason, seen)
            for other in self._spellings.get(normal(name), ()):
                if name < other in names:
                    yield Link(name, other, "spelling", None)
            for other, reason, seen_both in self._catalogs.links(name):
                if name < other in names:
                    yield Link(name, other, reason, seen_both)


def _is_loose(name: DatasetId) -> bool:
    return not name.is_complete or name.name.startswith(_IN_MEMORY)


def _link_order(link: Link) -> tuple[int, DatasetId, DatasetId, Seen | tuple[()]]:
    return _LINK_RANK[link.reason], link.name, link.other, link.seen or ()


def _way_back(end: DatasetId, came_by: Mapping[DatasetId, Link | None]) -> Iterator[Link]:
    links: list[Link] = []
    while (link := came_by[end]) is not None:
        links.append(link)
        end = link.other if link.name == end else link.name
    return reversed(links)
