/** Where the repository names a Node version, it names the one that npm installs. Pure: texts in, findings out. */

import type { Finding } from '../repository/findings.ts'
import type { RepositoryFile } from '../repository/repository-files.ts'
import { lineOf } from '../repository/source-scan.ts'

const MANIFEST = 'package.json'
/** The npm packages that hold the binary, one for each platform. */
const BINARY = /"node-(?:linux|darwin)-\w+":\s*"(?<version>[^"]+)"/gu

interface Place {
  readonly applies: (path: string) => boolean
  readonly pattern: RegExp
}

const isYaml = (path: string) => /\.ya?ml$/u.test(path)
/** `node:24` in an image reference, `node-version: 24` of a workflow, and the files of version managers. */
const PLACES: readonly Place[] = [
  { applies: (path) => path === MANIFEST, pattern: BINARY },
  {
    applies: (path) => /(?:^|\/)(?:Containerfile|Dockerfile)[^/]*$/u.test(path),
    pattern: /^FROM\s+(?:\S+\/)?node(?![\w./-])(?::(?<version>[^\s@-]+))?/gmu,
  },
  { applies: isYaml, pattern: /\bimage:\s*['"]?(?:\S+\/)?node(?![\w./-])(?::(?<version>[^\s@'"-]+))?/gu },
  { applies: isYaml, pattern: /\bnode-version:\s*['"]?(?<version>[^\s'"]*)/gu },
  {
    applies: (path) => /(?:^|\/)\.(?:nvmrc|node-version)$/u.test(path),
    pattern: /^v?(?<version>\S+)/gu,
  },
]

/** One finding for each place that differs from package.json. */
export function checkNodeVersions(files: readonly RepositoryFile[]): Finding[] {
  const manifest = files.find(({ path }) => path === MANIFEST)?.text ?? ''
  const wanted = [...manifest.matchAll(BINARY)][0]?.groups?.['version']
  if (wanted === undefined)
    return [{ path: MANIFEST, line: 1, message: 'no node-linux-* in optionalDependencies: Node is unpinned' }]
  return files.flatMap(({ path, text }) =>
    PLACES.filter(({ applies }) => applies(path))
      .flatMap(({ pattern }) => [...text.matchAll(pattern)])
      .filter(({ groups }) => groups?.['version'] !== wanted)
      .map(({ index, groups }) => ({
        path,
        line: lineOf(text, index),
        message: `Node ${groups?.['version'] || 'of any version'} here, ${wanted} in ${MANIFEST}: use one version everywhere`,
      })),
  )
}
