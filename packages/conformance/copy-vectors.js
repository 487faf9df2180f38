// The vectors that validators and verifiers are judged by. A package has its own copy.
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const copy = join(import.meta.dirname, 'dist/vectors')
rmSync(copy, { recursive: true, force: true })
cpSync(join(import.meta.dirname, '../../interop/vectors'), copy, { recursive: true })
