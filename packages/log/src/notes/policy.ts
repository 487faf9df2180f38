import { LogError } from '../errors.ts'
import { isSameKey, parseVerifierKey, SIGNATURE_TYPE, type VerifierKey } from './verifier-key.ts'

/** C2SP tlog-policy asks for at least 32 of each. */
export const MAXIMUM_POLICY_ITEMS = 64
const MAXIMUM_POLICY_BYTES = 65_536

export interface PolicyLog {
  readonly key: VerifierKey
  readonly url?: string
}

export interface PolicyWitness {
  readonly kind: 'witness'
  readonly name: string
  readonly key: VerifierKey
  readonly url?: string
}

export interface PolicyGroup {
  readonly kind: 'group'
  readonly name: string
  readonly threshold: number
  readonly members: readonly QuorumMember[]
}

export type QuorumMember = PolicyWitness | PolicyGroup

/** Whom a verifier trusts: log keys, witnesses, and how many of them have to cosign. */
export interface LogPolicy {
  /** False where the file says that nobody compared its log key: such a key pins nothing. */
  readonly isConfirmed: boolean
  readonly logs: readonly PolicyLog[]
  readonly witnesses: readonly PolicyWitness[]
  /** Undefined for `quorum none`: no cosignature is required. */
  readonly quorum: QuorumMember | undefined
}

/** Marks a file that `aex log policy` wrote without a fingerprint. Other tools read it as a comment. */
export const UNCONFIRMED_MARK = '# aex: unconfirmed'

interface Draft {
  readonly logs: PolicyLog[]
  readonly members: Map<string, QuorumMember>
  /** Each name may be a member of one group at most. */
  readonly taken: Set<string>
  quorum: { readonly member: QuorumMember | undefined } | undefined
}

/** C2SP tlog-policy. Text that is not UTF-8 is refused, since key names in notes are UTF-8. */
export function parsePolicy(content: string | Uint8Array): LogPolicy {
  const text = typeof content === 'string' ? content : decoded(content)
  if (text.length > MAXIMUM_POLICY_BYTES) throw new LogError('policy_size')
  // oxlint-disable-next-line no-control-regex -- control characters are what is refused
  if (!text.isWellFormed() || /[\u0000-\u0008\u000b-\u001f\u007f]/u.test(text))
    throw new LogError('policy_encoding')
  const draft: Draft = { logs: [], members: new Map(), taken: new Set(), quorum: undefined }
  for (const [index, each] of text.split('\n').entries()) {
    const words = each.split(/[ \t]+/u).filter((word) => word !== '')
    if (words.length > 0 && !words[0]?.startsWith('#')) readLine(draft, words, index + 1)
  }
  if (draft.quorum === undefined) throw new LogError('policy_quorum')
  const witnesses = [...draft.members.values()].filter((member) => member.kind === 'witness')
  const isConfirmed = !text.split('\n').some((line) => line.trim() === UNCONFIRMED_MARK)
  return { isConfirmed, logs: draft.logs, witnesses, quorum: draft.quorum.member }
}

function readLine(draft: Draft, [keyword, ...words]: readonly string[], line: number): void {
  if (keyword === 'log') addLog(draft, words, line)
  else if (keyword === 'witness') addWitness(draft, words, line)
  else if (keyword === 'group') addGroup(draft, words, line)
  else if (keyword === 'quorum') setQuorum(draft, words, line)
  else throw new LogError('policy_line', { line })
}

function addLog({ logs }: Draft, [text, url, ...more]: readonly string[], line: number): void {
  if (text === undefined || more.length > 0) throw new LogError('policy_line', { line })
  const key = readKey(text, SIGNATURE_TYPE.ed25519, line)
  if (logs.some((log) => isSameKey(log.key, key))) throw new LogError('policy_duplicate_key', { line })
  if (logs.length === MAXIMUM_POLICY_ITEMS) throw new LogError('policy_limit', { line })
  logs.push({ key, ...(url !== undefined && { url }) })
}

function addWitness(draft: Draft, [name, text, url, ...more]: readonly string[], line: number): void {
  if (name === undefined || text === undefined || more.length > 0) throw new LogError('policy_line', { line })
  const key = readKey(text, SIGNATURE_TYPE.cosignature, line)
  const isKnown = [...draft.members.values()].some(
    (member) => member.kind === 'witness' && isSameKey(member.key, key),
  )
  if (isKnown) throw new LogError('policy_duplicate_key', { line })
  addMember(draft, { kind: 'witness', name, key, ...(url !== undefined && { url }) }, line)
}

function addGroup(draft: Draft, [name, count, ...names]: readonly string[], line: number): void {
  if (name === undefined || count === undefined || names.length === 0)
    throw new LogError('policy_line', { line })
  const threshold = count === 'all' ? names.length : count === 'any' ? 1 : readThreshold(count)
  if (!(threshold >= 1 && threshold <= names.length)) throw new LogError('policy_threshold', { line })
  const members = names.map((each) => {
    const member = draft.members.get(each)
    if (!member || draft.taken.has(each)) throw new LogError('policy_name', { line })
    draft.taken.add(each)
    return member
  })
  addMember(draft, { kind: 'group', name, threshold, members }, line)
}

function setQuorum(draft: Draft, [name, ...more]: readonly string[], line: number): void {
  if (name === undefined || more.length > 0) throw new LogError('policy_line', { line })
  if (draft.quorum !== undefined) throw new LogError('policy_quorum', { line })
  const member = draft.members.get(name)
  if (!member && name !== NO_QUORUM) throw new LogError('policy_name', { line })
  draft.quorum = { member }
}

const NO_QUORUM = 'none'

function addMember({ members }: Draft, member: QuorumMember, line: number): void {
  if (member.name === NO_QUORUM || members.has(member.name)) throw new LogError('policy_name', { line })
  const sameKind = [...members.values()].filter(({ kind }) => kind === member.kind)
  if (sameKind.length === MAXIMUM_POLICY_ITEMS) throw new LogError('policy_limit', { line })
  members.set(member.name, member)
}

function readThreshold(text: string): number {
  return /^[1-9]\d{0,3}$/u.test(text) ? Number(text) : 0
}

function readKey(text: string, type: VerifierKey['type'], line: number): VerifierKey {
  try {
    const key = parseVerifierKey(text)
    if (key.type === type) return key
  } catch (cause) {
    if (cause instanceof LogError) throw new LogError(cause.code, { line, cause })
    throw cause
  }
  throw new LogError('key_type', { line })
}

function decoded(bytes: Uint8Array): string {
  if (bytes.length > MAXIMUM_POLICY_BYTES) throw new LogError('policy_size')
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new LogError('policy_encoding', { cause })
  }
}
