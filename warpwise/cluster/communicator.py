"""A rank's way to the others: what a program is given, with the names of ``torch.distributed``.

Arguments are named and ordered as there, and mean the same; arrays are NumPy's, or device arrays of
the simulator. Left out: groups' own point-to-point calls, objects, receiving from any rank, and
collectives whose result only one rank has or gives (``absent`` says what to use instead)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from warpwise.cluster import collectives, replicas
from warpwise.cluster.absent import absent
from warpwise.cluster.arguments import listed, need_alike, parts_of
from warpwise.cluster.buffers import Lies, as_received, overlap, values_of
from warpwise.cluster.collectives import ALL_REDUCE, Rounds
from warpwise.cluster.groups import Group, group_of
from warpwise.cluster.reductions import ReduceOp
from warpwise.cluster.state import Place, Run
from warpwise.cluster.transfers import Transfers
from warpwise.cluster.work import Work
from warpwise.errors import ClusterError
from warpwise.messages import Chosen, Rank, Words, message


class Communicator:
    """One rank of a cluster: ``dist`` in a program."""

    def __init__(self, run: Run, rank: int):
        self._run, self._rank = run, rank
        self._transfers = Transfers(run, rank)
        #: arrays, as long as the program has them, and lines of ``all_reduce`` since the last
        #: ``check_gradients``
        self._reduced: list[tuple[Lies, str]] = []
        self._world = Group(tuple(range(run.ranks)))

    def __repr__(self) -> str:
        return f"<rank {self._rank} of {self._run.ranks}>"

    def __getattr__(self, name: str) -> Any:
        """Raise AttributeError, which says what to use instead."""
        if name.startswith("_"):
            raise AttributeError(name)
        raise absent(name, (word for word in vars(Communicator) if not word.startswith("_")))

    def get_rank(self, group: Group | None = None) -> int:
        """Return this rank's number, in a group or of all.

        Raises ClusterError if it is not in the group."""
        return (group or self._world).number(self._rank)

    def get_world_size(self, group: Group | None = None) -> int:
        """Return how many ranks there are, in a group or in all."""
        return len((group or self._world).ranks)

    def new_group(self, ranks: Sequence[int]) -> Group:
        """Return a group of ranks, by their numbers; nothing is sent.

        Raises ClusterError unless they are some of all, each once."""
        return group_of(ranks, self._run.ranks)

    # --- from rank to rank ---

    def send(self, tensor: Any, dst: int, *, tag: int = 0) -> Any:
        """Send an array to a rank, and wait until that has received it.

        As ``isend``, with the wait. A generator says ``yield dist.send(...)``."""
        return self._transfers.wait(self._post("send", tensor, dst, tag))

    def recv(self, tensor: Any, src: int, *, tag: int = 0) -> Any:
        """Receive into an array from a rank, and wait for it. A generator yields it."""
        return self._transfers.wait(self._post("recv", tensor, src, tag))

    def isend(self, tensor: Any, dst: int, *, tag: int = 0) -> Work:
        """Start to send an array to a rank; it is not to be changed before ``wait()``.

        Raises ClusterError for a rank that there is not, or this one, and MismatchError if the
        receiver's array has another shape or type."""
        return self._post("isend", tensor, dst, tag)

    def irecv(self, tensor: Any, src: int, *, tag: int = 0) -> Work:
        """Start to receive into an array from a rank; it is not to be used before ``wait()``."""
        return self._post("irecv", tensor, src, tag)

    def _post(self, word: str, tensor: Any, peer: int, tag: int) -> Work:
        site = self._transfers.begin()
        values = values_of(tensor, word, site)
        if not 0 <= peer < self._run.ranks or peer == self._rank:
            raise ClusterError(
                message(
                    "{word} at {site} is between {rank} and {peer}: it needs two ranks, of those "
                    "up to {last}",
                    word=Words(word),
                    site=Words(site),
                    rank=Rank(self._rank),
                    peer=Rank(peer),
                    last=Rank(self._run.ranks - 1),
                )
            )
        return self._transfers.post(word, site, values, peer, tag)

    # --- collectives ---

    def all_reduce(
        self,
        tensor: Any,
        op: ReduceOp = ReduceOp.SUM,
        group: Group | None = None,
        async_op: bool = False,
    ) -> Any:
        """Replace an array by the sum, or another reduction, of all ranks' arrays.

        As all collectives: ``async_op=True`` returns a ``Work``; without it a generator says
        ``yield``. Raises DeadlockError if another rank calls another collective here, MismatchError
        if its array has another shape or type."""
        site = self._transfers.begin()
        op = ReduceOp.of(op, "all_reduce", site)
        values = as_received(values_of(tensor, "all_reduce", site), "all_reduce", site)
        way = ALL_REDUCE[self._run.algorithm]
        self._reduced.append((Lies(values), site))
        return self._collect(
            "all_reduce",
            site,
            group,
            {"shape": values.shape, "type": values.dtype, "op": op.name},
            lambda me, taken: way(me, taken[0], op.join),
            ([values], [values]),
            values.nbytes,
            async_op,
        )

    def broadcast(
        self, tensor: Any, src: int, group: Group | None = None, async_op: bool = False
    ) -> Any:
        """Give all ranks the array of rank ``src``, one of the group."""
        site = self._transfers.begin()
        values = values_of(tensor, "broadcast", site)
        root = (group or self._world).number(src)
        outputs = [] if src == self._rank else [as_received(values, "broadcast", site)]
        return self._collect(
            "broadcast",
            site,
            group,
            {"shape": values.shape, "type": values.dtype, "src": src},
            lambda me, taken: collectives.broadcast(me, taken[0], root),
            ([values], outputs),
            values.nbytes,
            async_op,
        )

    def reduce_scatter(
        self,
        output: Any,
        input_list: Sequence[Any],
        op: ReduceOp = ReduceOp.SUM,
        group: Group | None = None,
        async_op: bool = False,
    ) -> Any:
        """Put into ``output`` the reduction of all ranks' ``input_list[rank]``."""
        site, word = self._transfers.begin(), "reduce_scatter"
        op = ReduceOp.of(op, word, site)
        pieces = listed(input_list, self.get_world_size(group), word, site)
        out = values_of(output, word, site)
        need_alike(self._rank, out, pieces[self.get_rank(group)], word, site)
        return self._collect(
            word,
            site,
            group,
            {"shapes": _shapes(pieces), "type": out.dtype, "op": op.name},
            lambda me, taken: collectives.reduce_scatter(me, taken, op.join),
            (pieces, [as_received(out, word, site)]),
            sum(piece.nbytes for piece in pieces),
            async_op,
        )

    def reduce_scatter_tensor(
        self,
        output: Any,
        input: Any,
        op: ReduceOp = ReduceOp.SUM,
        group: Group | None = None,
        async_op: bool = False,
    ) -> Any:
        """Put into ``output`` this rank's part of the reduction of all ranks' ``input``.

        ``input`` has as many times the elements of ``output`` as there are ranks."""
        pieces = parts_of(input, output, self.get_world_size(group), "reduce_scatter_tensor")
        return self.reduce_scatter(output, pieces, op, group, async_op)

    def all_gather(
        self,
        tensor_list: Sequence[Any],
        tensor: Any,
        group: Group | None = None,
        async_op: bool = False,
    ) -> Any:
        """Put into ``tensor_list[r]`` the array of rank ``r``, for all ranks."""
        site, word = self._transfers.begin(), "all_gather"
        room = listed(tensor_list, self.get_world_size(group), word, site)
        values, mine = values_of(tensor, word, site), self.get_rank(group)
        need_alike(self._rank, values, room[mine], word, site)

        def rounds(me: Place, taken: list[np.ndarray]) -> Rounds:
            return collectives.all_gather(me, [*room[:mine], taken[0], *room[mine + 1 :]])

        return self._collect(
            word,
            site,
            group,
            {"shapes": _shapes(room), "type": values.dtype},
            rounds,
            ([values], [as_received(one, word, site) for one in room]),
            sum(one.nbytes for one in room),
            async_op,
        )

    def all_gather_into_tensor(
        self,
        output_tensor: Any,
        input_tensor: Any,
        group: Group | None = None,
        async_op: bool = False,
    ) -> Any:
        """Put all ranks' arrays into one, in the order of ranks.

        ``output_tensor`` has as many times the elements of ``input_tensor`` as there are ranks."""
        room = parts_of(
            output_tensor, input_tensor, self.get_world_size(group), "all_gather_into_tensor"
        )
        return self.all_gather(room, input_tensor, group, async_op)

    def all_to_all(
        self,
        output_tensor_list: Sequence[Any],
        input_tensor_list: Sequence[Any],
        group: Group | None = None,
        async_op: bool = False,
    ) -> Any:
        """Send ``input_tensor_list[r]`` to rank ``r``, and receive from each in the other list."""
        site, word = self._transfers.begin(), "all_to_all"
        size, mine = self.get_world_size(group), self.get_rank(group)
        pieces = listed(input_tensor_list, size, word, site)
        room = listed(output_tensor_list, size, word, site)
        need_alike(self._rank, room[mine], pieces[mine], word, site)
        return self._collect(
            word,
            site,
            group,
            {"type": pieces[0].dtype},
            lambda me, taken: collectives.all_to_all(me, taken, room),
            (pieces, [as_received(one, word, site) for one in room]),
            sum(piece.nbytes for piece in pieces),
            async_op,
        )

    def barrier(self, group: Group | None = None, async_op: bool = False) -> Any:
        """Wait until all ranks are here."""
        site = self._transfers.begin()
        return self._collect(
            "barrier",
            site,
            group,
            {},
            lambda me, _: collectives.barrier(me),
            ([], []),
            0,
            async_op,
        )

    # --- the rank itself ---

    def compute(self, seconds: float, what: str = "work") -> None:
        """Spend time on work that is no kernel, such as the forward pass of a layer.

        Raises ClusterError for less than 0 seconds, and for no end of them."""
        site = self._transfers.begin()
        try:
            spent = math.nan if isinstance(seconds, str) else float(seconds)
        except (TypeError, ValueError):
            spent = math.nan
        if not 0 <= spent < math.inf:
            raise ClusterError(
                message(
                    "work at {site} takes 0 seconds or more[[, not {seconds}]]",
                    site=Words(site),
                    seconds=Chosen(repr(seconds) if isinstance(seconds, str) else str(seconds)),
                )
            )
        self._transfers.spend(spent, what, site)

    def check_replicas(self, parameters: Any, step: object = None) -> None:
        """Compare parameters, a dictionary of arrays, with those of the other ranks.

        Called by all ranks, such as after each step; it sends nothing and takes no time. Raises
        ReplicaError for the first parameter whose bits differ, MismatchError for arrays of other
        names, shapes or types."""
        replicas.check_replicas(
            self._run.boards, self._rank, parameters, step, self._transfers.begin()
        )

    def check_gradients(self, local: Any, reduced: Any, step: object = None) -> None:
        """Compare gradients after they were reduced with copies from before, of all ranks.

        Both are dictionaries of arrays. Called by all ranks; it sends nothing and takes no time.
        Raises ReplicaError unless each is the sum or the mean over ranks, reduced once, and
        MismatchError for arrays of other names, shapes or types."""
        site, word = self._transfers.begin(), "check_gradients"
        after, before = replicas.copies(reduced, word, site), replicas.copies(local, word, site)
        known = [(place.array(), at) for place, at in self._reduced]
        lines = {
            name: [
                at
                for out, at in known
                if out is not None and overlap(out, values_of(array, word, site))
            ]
            for name, array in reduced.items()
        }
        self._reduced.clear()
        pinned = replicas.Pinned(site, after, before, lines)
        replicas.check_gradients(self._run.boards, self._rank, pinned, step)

    # --- inside ---

    def _collect(
        self,
        word: str,
        site: str,
        group: Group | None,
        details: Mapping[str, object],
        rounds: Callable[[Place, list[np.ndarray]], Rounds],
        arrays: tuple[Sequence[np.ndarray], Sequence[np.ndarray]],
        nbytes: int,
        async_op: bool,
    ) -> Any:
        (group or self._world).need(self._rank)
        ranks = (group or self._world).ranks
        work = self._transfers.collect(word, site, ranks, details, rounds, arrays, nbytes)
        return work if async_op else self._transfers.wait(work)


def _shapes(arrays: Sequence[np.ndarray]) -> tuple[tuple[int, ...], ...]:
    return tuple(one.shape for one in arrays)
