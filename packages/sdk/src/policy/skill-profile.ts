import { PROTOCOL_VERSION, protocolRangeIncludes, type Failure } from '@agent-exchange/protocol'
import type { PolicyCheck, PolicySubject } from './policy-check.ts'

const RULE = 'skill_profile'
const NUMBERS = /^\d{1,9}(?:\.\d{1,9}){0,3}$/

/**
 * The recipient supports the protocol and lists the skill. Ours: another version of the skill passes if the release
 * names a minimum_supported_version and the recipient's version is not older.
 */
export const checkSkillProfile: PolicyCheck = (subject) => [
  ...protocolFailures(subject),
  ...releaseFailures(subject),
  ...versionFailures(subject),
]

function protocolFailures({ recipientAgent }: PolicySubject): Failure[] {
  return recipientAgent.protocol_versions.includes(PROTOCOL_VERSION)
    ? []
    : [failure('/protocol_versions', 'The recipient does not list the protocol version.')]
}

function releaseFailures({ release, releaseRequired, skill }: PolicySubject): Failure[] {
  if (!release)
    return releaseRequired ? [failure('', 'The exchange knows no such release of the skill.')] : []
  if (release.skill_id !== skill.id || release.version !== skill.version)
    return [failure('', 'The release that was looked up is not the one that is used.')]
  return protocolRangeIncludes(release.protocol_range, PROTOCOL_VERSION) === true
    ? []
    : [failure('', 'The release of the skill does not cover the protocol version.')]
}

function versionFailures({ recipientAgent, skill, release }: PolicySubject): Failure[] {
  const at = '/skill_versions'
  const { skill_versions: listed } = recipientAgent
  const theirs = Object.hasOwn(listed, skill.id) ? listed[skill.id] : undefined
  if (theirs === undefined) return [failure(at, 'The recipient does not list the skill.')]
  if (theirs === skill.version) return []
  const minimum = release?.update_policy.minimum_supported_version
  if (minimum === undefined)
    return [failure(at, 'The recipient lists another version, and no known release says that it will do.')]
  return isAtLeast(theirs, minimum)
    ? []
    : [failure(at, 'The recipient lists a version that the release no longer supports.')]
}

function failure(pointer: string, message: string): Failure {
  return { pointer: `/recipient${pointer}`, rule: RULE, message }
}

/** Compares dotted numbers. Any other version fails the check. */
function isAtLeast(version: string, minimum: string): boolean {
  if (!NUMBERS.test(version) || !NUMBERS.test(minimum)) return false
  const [left, right] = [version, minimum].map((text) => text.split('.').map(Number))
  for (let index = 0; index < 4; index++) {
    const difference = (left?.[index] ?? 0) - (right?.[index] ?? 0)
    if (difference !== 0) return difference > 0
  }
  return true
}
