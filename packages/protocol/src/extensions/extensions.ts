import { Type, type TObject } from 'typebox'
import type { ProblemCode } from '../problems.ts'
import { name, pageParameters } from '../resources/forms.ts'
import type { Named } from '../schema/define.ts'
import { joinedClient, joinRequest } from './join.ts'
import {
  logConsistency,
  logHeadPage,
  logHistory,
  logKey,
  logKeyEventPage,
  logRecordPage,
} from './log-answers.ts'

/** What this exchange serves beside the 21 operations, on the listener of agents. */
export interface Extension {
  readonly method: 'GET' | 'POST'
  readonly path: `/${string}`
  readonly area: 'log' | 'invitations'
  readonly summary: string
  /** `reader`: an agent, or anyone where the profile makes the log public (O-07). */
  readonly access: 'agent' | 'reader' | 'anyone'
  readonly query?: TObject
  readonly request?: Named<unknown>
  /** A named schema, or the media type of an answer that is not JSON. */
  readonly success: Named<unknown> | 'text/plain' | 'application/octet-stream'
  readonly problems: readonly ProblemCode[]
}

const subject = {
  thread_id: Type.Optional(name),
  package_id: Type.Optional(name),
}
const ofSubject = Type.Object(
  { ...subject, ...pageParameters('O-07') },
  { description: 'either thread_id or package_id' },
)

export const extensions = {
  getLogCheckpoint: {
    method: 'GET',
    path: '/log/checkpoint',
    area: 'log',
    summary: 'The newest published checkpoint, a signed note',
    access: 'reader',
    success: 'text/plain',
    problems: ['resource_not_found'],
  },
  getLogTile: {
    method: 'GET',
    path: '/log/tile/{tile}',
    area: 'log',
    summary: 'A tile of the log (C2SP tlog-tiles)',
    access: 'reader',
    success: 'application/octet-stream',
    problems: ['resource_not_found'],
  },
  getLogKey: {
    method: 'GET',
    path: '/log/key',
    area: 'log',
    summary: 'The keys of the log, stated by the platform',
    access: 'anyone',
    success: logKey,
    problems: ['signing_unavailable'],
  },
  listLogRecords: {
    method: 'GET',
    path: '/log/records',
    area: 'log',
    summary: 'Salts and proofs of the records of a thread or a package',
    access: 'agent',
    query: ofSubject,
    success: logRecordPage,
    problems: ['resource_not_found', 'log_damaged'],
  },
  listLogHeads: {
    method: 'GET',
    path: '/log/heads',
    area: 'log',
    summary: 'Signed statements where the chains of packages end',
    access: 'agent',
    query: ofSubject,
    success: logHeadPage,
    problems: ['resource_not_found', 'log_damaged', 'signing_unavailable'],
  },
  listLogKeyEvents: {
    method: 'GET',
    path: '/log/key-events',
    area: 'log',
    summary: 'Every key event of an agent, with its proof',
    access: 'agent',
    query: Type.Object({ agent_id: name, ...pageParameters('O-07') }),
    success: logKeyEventPage,
    problems: ['resource_not_found', 'log_damaged'],
  },
  getLogConsistency: {
    method: 'GET',
    path: '/log/consistency',
    area: 'log',
    summary: 'A proof that the published log continues an earlier one',
    access: 'agent',
    query: Type.Object({ from: Type.Integer({ minimum: 0 }) }),
    success: logConsistency,
    problems: ['resource_not_found', 'log_damaged'],
  },
  getLogHistory: {
    method: 'GET',
    path: '/log/history',
    area: 'log',
    summary: 'Checkpoints before and after each of these leaves',
    access: 'agent',
    query: Type.Object({ index: Type.Array(Type.Integer({ minimum: 0 }), { minItems: 1, maxItems: 100 }) }),
    success: logHistory,
    problems: ['resource_not_found', 'log_damaged'],
  },
  joinByInvitation: {
    method: 'POST',
    path: '/join',
    area: 'invitations',
    summary: 'Exchange an invitation for a client that is bound to one agent',
    access: 'anyone',
    request: joinRequest,
    success: joinedClient,
    problems: ['invitation_refused', 'identifier_conflict'],
  },
} as const satisfies Record<string, Extension>

export type ExtensionId = keyof typeof extensions
export const EXTENSION_IDS = Object.keys(extensions) as ExtensionId[]
