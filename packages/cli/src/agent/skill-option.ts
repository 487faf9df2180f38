import { InvalidArgumentError } from 'commander'

export interface Skill {
  readonly id: string
  readonly version: string
}

export const DEFAULT_SKILL: Skill = { id: 'skill_alignment', version: '1.0.0' }
export const DEFAULT_SKILL_TEXT = `${DEFAULT_SKILL.id}@${DEFAULT_SKILL.version}`

/** `id@version`. */
export function readSkill(text: string): Skill {
  const [, id, version] = /^([^@]+)@([^@]+)$/u.exec(text) ?? []
  if (id !== undefined && version !== undefined) return { id, version }
  throw new InvalidArgumentError(`Write it as id@version, such as ${DEFAULT_SKILL_TEXT}.`)
}
