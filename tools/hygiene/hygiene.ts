/** `npm run check -- --only hygiene`: no machine-specific paths, unfinished work, disabled tests or version ranges. */

import { reportFindings } from '../repository/findings.ts'
import { checkHygiene } from './hygiene-check.ts'
import { readFiles } from '../repository/repository-files.ts'

const files = readFiles(() => true)
reportFindings(files.flatMap(checkHygiene), `${files.length} files are clean`)
