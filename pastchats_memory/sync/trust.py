"""Decide whose files are used: those of the machines whose keys are known, and of new ones that prove to be the person's."""

import hmac
from collections.abc import Mapping

from pastchats_memory.store import sync
from pastchats_memory.store.database import Database
from pastchats_memory.store.sync import KnownMachine, SyncFolder
from pastchats_memory.sync import keys
from pastchats_memory.sync.folder import Json, UntrustedFile, UnusableFile
from pastchats_memory.sync.keys import Signature


class Trust:
    """The machines of a folder that are known here."""

    def __init__(self, database: Database, known: SyncFolder) -> None:
        self._database = database
        self._known = known
        self.machines = sync.machines(database, known.id)

    def admit(self, machine: str, shown: Signature, message: bytes) -> None:
        """Raise UnusableFile unless a machine of the person has signed; a new one that proves to be it is remembered."""
        if not keys.is_signed(shown.key, shown.signature, message):
            raise UnusableFile("is incomplete, or its signature is wrong")
        found = self.machines.get(machine)
        if found is None:
            if not self._is_proved(machine, shown):
                raise UntrustedFile(
                    f"is of a machine that is not known here; its code is {keys.describe_code(shown.key)}"
                )
            self.remember(machine, shown.key)
        elif found.key != shown.key:
            raise UntrustedFile("is signed with another key than its machine has")
        elif found.is_retired:
            raise UntrustedFile("is of a machine that was retired")

    def _is_proved(self, machine: str, shown: Signature) -> bool:
        message = keys.name_machine(self._known.id, machine, shown.key)
        if self._known.secret is not None:
            return hmac.compare_digest(keys.make_mac(self._known.secret, message), shown.proof)
        return any(
            keys.is_signed(one.key, shown.proof, message) for one in self.machines.values() if not one.is_retired
        )

    def remember(self, machine: str, key: bytes, *, is_retired: bool = False) -> None:
        """Store the key of a machine, or that it was retired."""
        label = self.machines[machine].label if machine in self.machines else None
        self.machines[machine] = KnownMachine(key, label, is_retired)
        sync.store_machine(self._database, self._known.id, machine, self.machines[machine])

    def learn(self, header: Json) -> bool:
        """Take over which machines a known one knows and has retired; return whether something was new."""
        is_new = False
        for machine, (key, is_retired) in header["machines"].items():
            found = self.machines.get(machine)
            if found is None or (is_retired and not found.is_retired and found.key.hex() == key):
                self.remember(machine, bytes.fromhex(key), is_retired=is_retired)
                is_new = True
        return is_new

    def describe(self) -> Mapping[str, list[object]]:
        """Return what a header says of the machines."""
        return {machine: [one.key.hex(), one.is_retired] for machine, one in sorted(self.machines.items())}

    def name(self, machine: str, header: Json) -> str:
        """Return the name of a machine before its paths; empty if it is this computer, as after a loss of the memory.

        A second computer of the same name gets a part of its id as well.
        """
        found = self.machines[machine]
        if found.label is None:
            used = {self._known.host, *(one.label for one in self.machines.values())}
            label = f"{header['host']}-{machine[:4]}" if header["host"] in used else header["host"]
            label = "" if header["place"] == self._known.place else label
            self.machines[machine] = found._replace(label=label)
            sync.store_machine(self._database, self._known.id, machine, self.machines[machine])
        return str(self.machines[machine].label)
