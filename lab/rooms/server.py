"""The rooms of one server of the lab: opened once, read once for all visits, and limited in number."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from functools import cache

from lab.rooms import log
from lab.rooms.codes import hashed
from lab.rooms.database import Unreachable, default_url, open_database
from lab.rooms.rooms import GONE, SIGN, UNUSED_LIFE, Full, NoSuchRoom, NotTheTeacher, Rooms, TooManyGuesses, Waits
from lab.rooms.seen import State

_FRESH = 0.25  # seconds for which a reading is used
MINUTE = 60.0
_MOST_SIGNS = 1000
MOST_NEW = 10  # the most rooms opened per minute
# Wrong codes tried per minute: by one visitor, who then has to wait, and by all, of which the log tells.
MOST_GUESSES, MOST_WRONG = 10, 30
_MOST_GUESSERS = 10_000


class Limit:
    """A limit on how often something may happen in a minute, counted over all visits together."""

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._clock = most, clock
        self._times: deque[float] = deque()
        self._lock = threading.Lock()

    def takes(self) -> bool:
        """Return whether one more event is allowed; if so, count the event."""
        with self._lock:
            now = self._clock()
            while self._times and now - self._times[0] >= MINUTE:
                self._times.popleft()
            if len(self._times) >= self._most:
                return False
            self._times.append(now)
            return True

    def give_back(self) -> None:
        """Count one event less, because the last one that was allowed did not happen."""
        with self._lock:
            if self._times:
                self._times.pop()


class RoomServer:
    """All rooms of the database at ``url``, for all sessions of a process.

    ``state`` reads the database once in a quarter of a second, however many visits ask. If the database did not answer
    a moment ago, the next visit does not ask it again: a hundred visits that waited five seconds one after the other
    would wait for minutes.
    """

    def __init__(self, url: str, clock: Callable[[], float] = time.monotonic) -> None:
        log.start()
        self._url, self._clock = url, clock
        self._lock = threading.Lock()
        self._opened: Rooms | None = None
        self._read: Mapping[str, State] | None = None
        self._when = -_FRESH
        self._away = False
        self._timer: threading.Timer | None = None
        self._signs: dict[tuple[str, str], float] = {}  # keys that were right, and when
        self._new, self._wrong = Limit(MOST_NEW, clock), Limit(MOST_WRONG, clock)
        self._guesses: OrderedDict[Hashable, Limit] = OrderedDict()  # by visitor, the latest last

    @property
    def rooms(self) -> Rooms:
        """The rooms themselves. Raises Unreachable."""
        self._look()
        if self._opened is None:
            raise Unreachable("The database does not answer.")
        return self._opened

    def state(self, code: str) -> State:
        """The state of a room, at most a quarter of a second old. Raises NoSuchRoom, Unreachable."""
        found = self._look()
        if code not in found:
            raise NoSuchRoom(GONE)
        return found[code]

    def find(self, code: str, whose: Hashable = None) -> State:
        """The state of the room with a code that the visitor ``whose`` has typed.

        After :data:`MOST_GUESSES` wrong codes within a minute, this visitor waits, whatever the next code is; others do
        not. Raises NoSuchRoom, TooManyGuesses, Unreachable.
        """
        guesses = self._guesses_of(whose)
        if not guesses.takes():
            raise TooManyGuesses(f"You have tried {MOST_GUESSES} codes that are wrong. Wait a minute, then try again.")
        try:
            found = self.state(code)
        except NoSuchRoom:
            if not self._wrong.takes():
                log.say_once(f"{MOST_WRONG} wrong codes were tried within a minute. Somebody may be guessing.")
            raise
        except Unreachable:
            guesses.give_back()
            raise
        guesses.give_back()  # only wrong codes count
        return found

    def _guesses_of(self, whose: Hashable) -> Limit:
        with self._lock:
            found = self._guesses.setdefault(whose, Limit(MOST_GUESSES, self._clock))
            self._guesses.move_to_end(whose)
            if len(self._guesses) > _MOST_GUESSERS:
                self._guesses.popitem(last=False)
            return found

    def create(self, address: str = "") -> tuple[str, str]:
        """Make a room; returns the room's code and the teacher's key: see :meth:`Rooms.create`.

        Raises Full, Unreachable.
        """
        rooms = self.rooms
        if not self._new.takes():
            log.say_once(f"{MOST_NEW} rooms were opened within a minute; whoever opens another waits.")
            raise Full(f"{MOST_NEW} rooms were opened here within a minute. Wait a minute, then try again.")
        try:
            made = rooms.create(address)
        except (Full, Unreachable) as refused:
            self._new.give_back()  # who has a full quota keeps nobody else from opening a room
            if isinstance(refused, Full):
                log.say_once(str(refused))
            raise
        log.LOG.info("a room was opened.")
        self._tidy_after(UNUSED_LIFE)
        self.forget()
        return made

    def join(self, code: str, visit: str, kept: str = "") -> str:
        """Let a visit in: see :meth:`Rooms.join`. Raises NoSuchRoom, Full, Waits, Unreachable."""
        try:
            return self.rooms.join(code, visit, kept)
        except (Full, Waits) as refused:
            log.say_once(f"somebody new was not let into a room: {refused}")
            raise

    def is_teachers(self, code: str, key: str) -> bool:
        """Return whether ``key`` is that of the room's teacher, and take it as a sign that the teacher is there.

        The database is asked once in five minutes for each key. If it does not answer, the key counts.
        """
        asked, now = (code, hashed(key)), self._clock()
        if now - self._signs.get(asked, -SIGN) < SIGN:
            return True
        try:
            self.rooms.sign(code, key)
        except (NoSuchRoom, NotTheTeacher):
            return False
        except Unreachable:
            return True
        if len(self._signs) >= _MOST_SIGNS:
            self._signs.clear()
        self._signs[asked] = now
        return True

    def forget(self) -> None:
        """Drop the last reading, because this server has just changed something."""
        self._when = -_FRESH

    def _tidy_after(self, seconds: float) -> None:
        """Delete, ``seconds`` from now, the rooms that are over; repeat while there are rooms, even without visits."""
        if self._timer is None:
            self._timer = threading.Timer(max(0.0, seconds) + 1, self._tidy)
            self._timer.daemon = True
            self._timer.start()

    def _tidy(self) -> None:
        self._timer, then = None, None
        with suppress(Unreachable):  # if the database does not answer, the next visit that opens the rooms tidies up
            then = self.rooms.tidy()
        if then is not None:
            self._tidy_after(min(then - time.time(), UNUSED_LIFE))

    def _look(self) -> Mapping[str, State]:
        with self._lock:
            if self._clock() - self._when >= _FRESH:
                try:
                    if self._opened is None:
                        opened = Rooms(open_database(self._url))
                        then = opened.tidy()
                        self._opened = opened
                        if then is not None:
                            self._tidy_after(min(then - time.time(), UNUSED_LIFE))
                    self._read = self._opened.states()
                except Unreachable:
                    # Opened again, it has its tables again, which a server of another version drops if no room is
                    # opened in them for a day.
                    self._opened, self._read, self._away = None, None, True
                else:
                    if self._away:
                        self._away = False
                        log.forget()
                        log.LOG.info("the database answers again.")
                self._when = self._clock()
            if self._read is None:
                raise Unreachable("The database does not answer.")
            return self._read


@cache
def server() -> RoomServer:
    """The rooms of this process; the database is opened at the first call.

    The rooms are not in a cache of Streamlit, because any visitor can empty Streamlit's caches by one message, which
    would reset the limits.
    """
    return RoomServer(default_url())
