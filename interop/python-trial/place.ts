import { join } from 'node:path'
import type { Report } from '../curl-agent/trial/report.ts'

export interface Place {
  readonly folder: string
  /** A Python that has jwcrypto. */
  readonly python: string
  readonly report: Report
}

export function script(name: 'receiver.py' | 'opener.py'): string {
  return join(import.meta.dirname, '../python/agent', name)
}
