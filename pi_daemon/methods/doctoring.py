"""daemon/doctor."""

from __future__ import annotations

from pi_daemon.engine import doctoring
from pi_daemon.engine.doctoring import Treated
from pi_daemon.methods import wire
from pi_daemon.methods.shared import Shared
from pi_daemon.rpc.call import Call
from pi_daemon.rpc.types import doctor as d


async def doctor(shared: Shared, call: Call, params: d.DoctorParams) -> d.DoctorResult:
    found = await doctoring.doctor(
        shared.hub,
        params.fix,
        lambda done, total: call.progress("Looking at files", done, total),
        lambda done, total: call.progress("Mending files", done, total),
    )
    examined, findings = found.examined, found.findings
    return d.DoctorResult(
        sessions_dir=shared.sessions_dir,
        folders=examined.folders,
        files=examined.files,
        bytes=examined.bytes,
        problems=sum(one.finding.problem and one.status != "fixed" for one in findings),
        findings=[_finding(one) for one in findings],
        left_out=examined.left_out,
    )


def _finding(one: Treated) -> d.DoctorFinding:
    found = one.finding
    return d.DoctorFinding(
        kind=found.kind,
        problem=found.problem,
        path=found.path,
        message=found.message,
        session_id=found.session_id,
        others=found.others,
        repair=found.repair,
        damage=wire.damage(found.damage),
        damage_count=found.damage_count,
        status=one.status,
        outcome=one.outcome,
        kept_at=one.kept_at,
    )
