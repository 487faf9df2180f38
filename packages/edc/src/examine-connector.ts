import type { InspectableConnector, Probed, ProbeOptions, ProbeReport } from './inspectable-connector.ts'

/** One line of the doctor. */
export interface DoctorCheck {
  readonly name: string
  readonly ok: boolean
  readonly detail: string
  /** What to do about it; empty where it is fine. */
  readonly hint: string
}

/** Tokens of connectors live for minutes. A larger clock difference causes sporadic refusals. */
const TOLERATED_SKEW_MS = 30_000

/**
 * Whether a connector can carry packages, as a list of checks.
 *
 * @example
 * const checks = await examineConnector(connector, { counterParty })
 * for (const { name, ok, detail, hint } of checks) console.log(ok ? 'ok' : 'NOT OK', name, detail, hint)
 */
export async function examineConnector(
  connector: Pick<InspectableConnector, 'probe'>,
  options: ProbeOptions = {},
): Promise<readonly DoctorCheck[]> {
  const report = await connector.probe(options)
  const { counterParty } = options
  return [
    check('management_api', report.management, () => 'reached and authorized'),
    clockCheck(report),
    check('api_version', report.apiVersions, listed, {
      holds: (versions) => versions.some((version) => /^v?3\b/u.test(version)),
      hint: 'The management API v3 is needed. Use a release that still has it, or another adapter.',
    }),
    check('protocol_version', report.protocolVersions, listed, {
      holds: (versions) => versions.length > 0,
      hint: 'The protocol endpoint names no version. Check its address.',
    }),
    dataPlaneCheck(report),
    check('participant_id', report.ownParticipantId, (id) => `the endpoint says ${id}`, {
      holds: (id) => id === report.participantId,
      hint: `The connector says that it is somebody else than ${report.participantId}. Correct the configuration.`,
    }),
    ...(report.counterParty && counterParty
      ? [
          check(
            'counterparty',
            report.counterParty,
            ({ participantId }) => `it says ${participantId ?? 'nothing'}`,
            {
              holds: ({ participantId }) => participantId === counterParty.participantId,
              hint: 'Another participant answers at that endpoint. Ask the other organization for its data.',
            },
          ),
        ]
      : []),
    ...dryRunChecks(report),
  ]
}

function check<T>(
  name: string,
  found: Probed<T>,
  detail: (value: T) => string,
  { holds, hint }: { holds: (value: T) => boolean; hint: string } = { holds: () => true, hint: '' },
): DoctorCheck {
  if (!found.ok) return { name, ok: false, detail: found.what, hint: found.hint }
  const ok = holds(found.value)
  return { name, ok, detail: detail(found.value), hint: ok ? '' : hint }
}

function clockCheck({ management }: ProbeReport): DoctorCheck {
  return check(
    'clock',
    management,
    ({ clockSkewMs }) =>
      clockSkewMs === undefined
        ? 'the connector does not tell its time'
        : `${Math.round(clockSkewMs / 1000)} s apart`,
    {
      holds: ({ clockSkewMs = 0 }) => Math.abs(clockSkewMs) <= TOLERATED_SKEW_MS,
      hint: 'Tokens will be refused. Synchronize the clocks of this machine and of the connector.',
    },
  )
}

function dataPlaneCheck({ dataPlanes }: ProbeReport): DoctorCheck {
  return check(
    'data_plane',
    dataPlanes,
    (planes) => planes.map(({ id, state }) => `${id} ${state}`).join(', ') || 'none',
    {
      holds: (planes) =>
        planes.some(({ state, transfers }) => state !== 'UNAVAILABLE' && transfers.includes('HttpData-PULL')),
      hint: 'No data plane offers HttpData-PULL. Start one and let it register.',
    },
  )
}

function dryRunChecks({ dryRun }: ProbeReport): readonly DoctorCheck[] {
  if (!dryRun) return []
  const run = check(
    'dry_run',
    dryRun,
    ({ elapsedMs }) => `published, agreed, fetched, withdrew in ${elapsedMs} ms`,
  )
  if (!dryRun.ok) return [run]
  return [
    run,
    check('access_policy', dryRun, ({ accessEnforced }) => (accessEnforced ? 'evaluated' : 'ignored'), {
      holds: ({ accessEnforced }) => accessEnforced,
      hint: 'Every participant is offered every package. Contents stay sealed, but add the policy function for the condition, or name one that the connector knows.',
    }),
  ]
}

function listed(values: readonly string[]): string {
  return values.join(', ') || 'none'
}
