import type { KeyVerdictCode } from '@agent-exchange/protocol'
import { LOG_ERROR_CODES, LogError, type LogErrorCode } from '../errors.ts'
import type { About, Check, CheckValues, ExchangeClaim } from '../verdict/check.ts'
import type { FaultCode } from '../verdict/fault-codes.ts'
import { CHECK_SENTENCES } from './check-sentences.ts'
import { FAULT_SENTENCES, KEY_SENTENCES, CLAIM_SENTENCES } from './fault-sentences.ts'

/** One check in words, without a full stop unless it is a whole sentence. */
export function checkText(check: Check): string {
  const { code, result } = check
  const sentences = CHECK_SENTENCES[code]
  if (result === 'unproved') return withReason(filled(sentences.unproved, check), faultText(check))
  if (result === 'fails')
    return withReason(filled(sentences.fails, check), faultText(check) ?? keyText(check))
  return filled(sentences.holds, check)
}

/** What stands beside a check: under which key and with which times. */
export function checkDetail(check: Check): string {
  const { said_at, arrived_at, form } = check.values ?? {}
  return [
    keyText(check),
    said_at === undefined ? undefined : `dated ${said_at}, arrived ${arrived_at}`,
    form === 'plain' ? 'the signature does not name the package' : undefined,
  ]
    .filter((part) => part !== undefined)
    .join('; ')
}

/** Where it is; undefined for the evidence as a whole. */
export function placeText({ package_id, position, agent_id, key_id }: About): string | undefined {
  const parts = [
    package_id,
    position === undefined || position === 0 ? undefined : `entry ${position}`,
    key_id === undefined ? undefined : `key ${key_id} of ${agent_id ?? 'the exchange'}`,
  ].filter((part) => part !== undefined)
  return parts.length === 0 ? undefined : parts.join(', ')
}

/** The same with its place, for lists. */
export function placedText(check: Check): string {
  const place = placeText(check)
  return place === undefined ? checkText(check) : `${checkText(check)} (${place})`
}

export function claimText({ code }: Pick<ExchangeClaim, 'code'>): string {
  return CLAIM_SENTENCES[code]
}

function keyText(check: Check): string | undefined {
  const code = check.values?.['key'] as KeyVerdictCode | undefined
  return code === undefined ? undefined : filled(KEY_SENTENCES[code], check)
}

function faultText(check: Check): string | undefined {
  const { fault } = check.values ?? {}
  if (fault === undefined || fault === 'not_given' || fault === 'manifest_withheld') return undefined
  if (isLogError(fault)) return new LogError(fault).message
  return filled(FAULT_SENTENCES[fault], check)
}

function isLogError(fault: FaultCode): fault is LogErrorCode {
  return (LOG_ERROR_CODES as readonly string[]).includes(fault)
}

/** A reason follows a clause after a colon, and a whole sentence in its parentheses. */
function withReason(text: string, reason: string | undefined): string {
  if (reason === undefined) return text
  return text.endsWith('.') ? `${text.slice(0, -1)} (${reason}).` : `${text}: ${reason}`
}

function filled(template: string, { values, ...about }: Check): string {
  const known: CheckValues = { ...values, ...about }
  return template.replaceAll(/\{(\w+)\}/gu, (_, name: string) => String(known[name] ?? ''))
}
