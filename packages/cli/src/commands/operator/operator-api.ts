import { MEDIA_TYPE, problems, type Failure, type ProblemDetails } from '@agent-exchange/protocol'
import { CommandFailure } from '../../failure.ts'
import { aexStep } from '../../next-step.ts'
import { operatorAccess, type OperatorAccess } from './operator-access.ts'

const BASE_PATH = '/operator/v1'
const TIMEOUT_MS = 60_000

export type Answer = Readonly<Record<string, unknown>>

/** Reads from the operator API. Undefined members are omitted from the query. */
export function read(
  path: string,
  query: Readonly<Record<string, string | undefined>> = {},
): Promise<Answer> {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return ask('GET', given.length > 0 ? `${path}?${new URLSearchParams(given).toString()}` : path)
}

export function change(path: string, body: object): Promise<Answer> {
  return ask('POST', path, body)
}

/** A path with every part encoded. */
export function pathOf(...parts: string[]): string {
  return parts.map((part) => `/${encodeURIComponent(part)}`).join('')
}

async function ask(method: string, path: string, body?: object): Promise<Answer> {
  const access = operatorAccess()
  const response = await fetch(access.url + BASE_PATH + path, {
    method,
    headers: {
      authorization: `Bearer ${access.token}`,
      accept: `${MEDIA_TYPE.json}, ${MEDIA_TYPE.problem}`,
      ...(body && { 'content-type': MEDIA_TYPE.json }),
    },
    ...(body && { body: JSON.stringify(body) }),
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch((error: unknown) => {
    throw unreachable(error, access.url)
  })
  const answer = await response.json().catch(() => undefined)
  if (typeof answer !== 'object' || answer === null) {
    throw new CommandFailure(`${access.url} answers, but not as the operator API of an exchange does.`)
  }
  if (!response.ok) throw refused(response.status, answer, access)
  return answer as Answer
}

function unreachable(error: unknown, url: string): CommandFailure {
  const cause = error instanceof Error ? (error.cause ?? error) : error
  const code = typeof cause === 'object' && cause !== null ? String(Reflect.get(cause, 'code') ?? '') : ''
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ALTNAME/.test(code)) {
    return new CommandFailure(
      `The certificate of ${url} cannot be trusted (${code}). Set NODE_EXTRA_CA_CERTS to the file of its ` +
        'authority, and AEX_OPERATOR_URL to a name that the certificate has.',
    )
  }
  return new CommandFailure(
    `The exchange does not answer at ${url}${code ? ` (${code})` : ''}.\n` +
      `Start it with ${aexStep('serve')}, or set AEX_OPERATOR_URL to where it runs.`,
  )
}

function refused(status: number, problem: Partial<ProblemDetails>, access: OperatorAccess): CommandFailure {
  if (status === 401) {
    return new CommandFailure(
      `The exchange at ${access.url} does not accept the operator token from ${access.tokenSource}.\n` +
        'It may belong to another exchange, or its operator was disabled.',
    )
  }
  const { title = `Status ${status}`, code = '', details = {}, correlation_id } = problem
  const advice = Object.hasOwn(problems, code) ? problems[code as keyof typeof problems].advice : undefined
  const { failures, exists, hint, ...others } = details as {
    failures?: readonly Failure[]
    exists?: string
    hint?: string
  }
  if (exists !== undefined)
    return new CommandFailure(`${exists} exists already (${code}). Use another id, or list what there is.`)
  const lines = [
    code ? `${title} (${code}).` : `${title}.`,
    ...(failures ?? []).map(({ pointer, message }) => `  ${pointer || '(the request)'}  ${message}`),
    ...Object.entries(others).map(([name, value]) => `  ${name}: ${String(value)}`),
    // A hint is about this request; the advice is about every problem with the same code.
    ...(hint === undefined ? (advice === undefined || failures ? [] : [advice]) : [hint]),
    ...(correlation_id === undefined ? [] : [`correlation_id: ${correlation_id}`]),
  ]
  return new CommandFailure(lines.join('\n'))
}
