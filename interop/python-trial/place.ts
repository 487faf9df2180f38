import { join } from 'node:path'
import type { Report } from '../curl-agent/trial/report.ts'

export interface Place {
  readonly folder: string
  /** A Python that has jwcrypto. */
  readonly python: string
  readonly report: Report
}

/** The folder of the Python package, for PYTHONPATH. */
export const PACKAGES: string = join(import.meta.dirname, '../python')
