import type { SkillRelease } from '@agent-exchange/protocol'
import { isStorable } from '../../kernel/bounds.ts'
import type { ReplicaRead } from '../../kernel/call.ts'
import { Problem } from '../../kernel/problem.ts'
import { findRelease } from './skill-store.ts'

/** ID-09. */
export const getSkillRelease: ReplicaRead<'getSkillRelease'> = async ({ params }, db) => {
  const { skill_id, version } = params
  const known = isStorable(skill_id) && isStorable(version)
  const release = known ? await findRelease(db, skill_id, version) : undefined
  if (!release) throw new Problem('resource_not_found')
  return JSON.parse(release.body) as SkillRelease
}
