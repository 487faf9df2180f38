import type { ConsolePage } from './console-page.ts'

export interface FoundPage {
  readonly page: ConsolePage
  readonly params: Readonly<Record<string, string>>
}

/** The page that a browser gets at this path, as the router would choose it: `/organizations/new` before `/:organization_id`. */
export function findPage(pages: readonly ConsolePage[], path: string): FoundPage | undefined {
  return pages
    .filter(({ method }) => method === 'GET')
    .flatMap((page) => {
      const params = paramsOf(page.path, path)
      return params ? [{ page, params }] : []
    })
    .toSorted((a, b) => Object.keys(a.params).length - Object.keys(b.params).length)[0]
}

function paramsOf(pattern: string, path: string): Record<string, string> | undefined {
  const [expected, given] = [pattern.split('/'), path.split('/')]
  if (expected.length !== given.length) return undefined
  const params: Record<string, string> = {}
  for (const [index, part] of expected.entries()) {
    const text = given[index] ?? ''
    if (part.startsWith(':')) params[part.slice(1)] = decoded(text)
    else if (part !== text) return undefined
  }
  return params
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
