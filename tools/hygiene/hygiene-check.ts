/** Checks a file against the rules of hygiene-rules.ts. A pure function from text to findings. */

import type { Finding } from '../repository/findings.ts'
import { HYGIENE_ALLOWED, HYGIENE_RULES, PINNED_GROUPS } from './hygiene-rules.ts'
import type { RepositoryFile } from '../repository/repository-files.ts'
import { lineOf, scanSource } from '../repository/source-scan.ts'

const EXACT_VERSION = /^\d+\.\d+\.\d+(?:-[\w.]+)?$/u

export function checkHygiene(file: RepositoryFile): Finding[] {
  return [...forbiddenText(file), ...openVersions(file)].toSorted((a, b) => a.line - b.line)
}

function forbiddenText({ path, text }: RepositoryFile): Finding[] {
  return HYGIENE_RULES.filter(({ name, applies }) => applies(path) && !isAllowed(path, name)).flatMap(
    (rule) => {
      const searched = rule.codeOnly ? scanSource(text).code : text
      return [...searched.matchAll(rule.pattern)].map((match) => ({
        path,
        line: lineOf(text, match.index + match[0].search(/\S/u)),
        message: `${rule.why} (${rule.name})`,
      }))
    },
  )
}

function isAllowed(path: string, rule: string): boolean {
  return HYGIENE_ALLOWED.some(
    (entry) =>
      entry.rule === rule && (entry.path.endsWith('/') ? path.startsWith(entry.path) : path === entry.path),
  )
}

/** npm resolves a range depending on the local Node version, so machines would install different packages. */
function openVersions({ path, text }: RepositoryFile): Finding[] {
  if (path !== 'package.json' && !path.endsWith('/package.json')) return []
  const manifest: unknown = JSON.parse(text)
  return PINNED_GROUPS.flatMap((group) =>
    versionsIn(isRecord(manifest) ? manifest[group] : undefined)
      .filter(([, version]) => !EXACT_VERSION.test(version))
      .map(([name, version]) => ({
        path,
        line: lineOf(text, text.indexOf(`"${name}"`, text.indexOf(`"${group}"`))),
        message: `${name} ${version} in ${group}: pin one exact version`,
      })),
  )
}

/** Pairs of name and version; overrides may be nested. */
function versionsIn(group: unknown): [string, string][] {
  if (!isRecord(group)) return []
  return Object.entries(group).flatMap(([name, value]): [string, string][] =>
    typeof value === 'string' ? [[name, value]] : versionsIn(value),
  )
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
