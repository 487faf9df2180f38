/** Links and anchors of Markdown text. Pure functions: the caller passes the existing files. */

import { posix } from 'node:path'
import type { Finding } from '../repository/findings.ts'
import type { RepositoryFile } from '../repository/repository-files.ts'
import { lineOf } from '../repository/source-scan.ts'

const FENCE = /^(?<mark>`{3,}|~{3,})[^\n]*\n[\s\S]*?(?:^\k<mark>|(?![\s\S]))/gmu
const INLINE_CODE = /(?<ticks>`+)(?!`)[^\n]*?(?<!`)\k<ticks>(?!`)/gu
const COMMENT = /<!--[\s\S]*?-->/gu
const HEADING = /^#{1,6}[ \t]+(?<title>.+?)[ \t]*#*$/gmu
const NAMED_ANCHOR = /<[a-z]+\b[^>]*?\b(?:id|name)="(?<name>[^"]+)"/gu
const LINKS = [
  // [text](target "title") and ![alt](target); the target may be in angle brackets
  /\]\(\s*<?(?<target>[^\s()<>]+(?:\([^\s()]*\)[^\s()<>]*)*)>?(?:\s+["'(][^\n]*?["')])?\s*\)/gu,
  // [label]: target
  /^ {0,3}\[[^\]\n]+\]:[ \t]*<?(?<target>[^\s<>]+)>?/gmu,
  /<(?:a|img|source)\b[^>]*?\b(?:href|src)="(?<target>[^"]+)"/gu,
]
const OUTSIDE = /^(?:[a-z][a-z0-9+.-]*:|\/\/)/iu

/** Blanks code and comments, so that their content is not parsed. Offsets are preserved. */
function withoutCode(markdown: string, patterns = [FENCE, COMMENT, INLINE_CODE]): string {
  return patterns.reduce(
    (text, pattern) => text.replace(pattern, (match) => match.replace(/[^\n]/gu, ' ')),
    markdown,
  )
}

export function findLinks(markdown: string): { target: string; line: number }[] {
  const prose = withoutCode(markdown)
  return LINKS.flatMap((pattern) => Array.from(prose.matchAll(pattern)))
    .toSorted((a, b) => a.index - b.index)
    .map((match) => ({ target: match.groups?.['target'] ?? '', line: lineOf(prose, match.index) }))
}

/** The anchors of a page: GitHub's heading slugs and HTML ids. */
export function anchorsOf(markdown: string): Set<string> {
  const prose = withoutCode(markdown, [FENCE, COMMENT])
  const seen = new Map<string, number>()
  const anchors = new Set<string>()
  for (const match of prose.matchAll(HEADING)) {
    const slug = slugOf(match.groups?.['title'] ?? '')
    const count = seen.get(slug) ?? 0
    seen.set(slug, count + 1)
    anchors.add(count === 0 ? slug : `${slug}-${count}`)
  }
  for (const match of prose.matchAll(NAMED_ANCHOR)) anchors.add(match.groups?.['name'] ?? '')
  return anchors
}

function slugOf(title: string): string {
  return title
    .replace(/!?\[([^\]]*)\]\([^)]*\)/gu, '$1')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, '')
    .replaceAll(' ', '-')
}

/** Checks the relative links of all pages against existing files, folders and headings. */
export function checkLinks(pages: readonly RepositoryFile[], existing: ReadonlySet<string>): Finding[] {
  const anchors = new Map(pages.map(({ path, text }) => [path, anchorsOf(text)]))
  return pages.flatMap(({ path, text }) =>
    findLinks(text)
      .filter(({ target }) => !OUTSIDE.test(target))
      .flatMap(({ target, line }) => {
        const [file = '', fragment = ''] = target.split('#').map(decodeURIComponent)
        const base = file.startsWith('/') ? '' : posix.dirname(path)
        const resolved = file === '' ? path : posix.join(base, file).replace(/^\/|\/$/gu, '')
        if (!existing.has(resolved)) return [{ path, line, message: `${target} leads to no file` }]
        const known = anchors.get(resolved)
        if (fragment === '' || known === undefined || known.has(fragment)) return []
        return [{ path, line, message: `${resolved} has no heading #${fragment}` }]
      }),
  )
}

/** All files and their parent folders. */
export function withFolders(files: readonly string[]): Set<string> {
  const all = new Set(['.', ...files])
  for (const file of files) {
    for (let folder = posix.dirname(file); !all.has(folder); folder = posix.dirname(folder)) all.add(folder)
  }
  return all
}
