/** `npm run check -- --only hygiene`: no machine-specific paths, unfinished work, disabled tests, version ranges or second Node version. */

import { reportFindings } from '../repository/findings.ts'
import { checkHygiene } from './hygiene-check.ts'
import { checkNodeVersions } from './node-versions.ts'
import { readFiles } from '../repository/repository-files.ts'

const files = readFiles(() => true)
reportFindings(
  [...files.flatMap(checkHygiene), ...checkNodeVersions(files)],
  `${files.length} files are clean`,
)
