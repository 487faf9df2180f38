import { InvalidArgumentError, Option } from 'commander'

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

export type SkillVersions = Readonly<Record<string, string>>

const DEFAULT_SKILLS: SkillVersions = { [DEFAULT_SKILL.id]: DEFAULT_SKILL.version }

/** Skills of a registration. */
export const skillsOption = () =>
  new Option('--skill <id@version>', 'a skill that the agent has; may be repeated')
    .argParser(collectSkill)
    .default(DEFAULT_SKILLS, DEFAULT_SKILL_TEXT)

/** Named skills replace the default. */
function collectSkill(text: string, before: SkillVersions): SkillVersions {
  const { id, version } = readSkill(text)
  return { ...(before === DEFAULT_SKILLS ? {} : before), [id]: version }
}
