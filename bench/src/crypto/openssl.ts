import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

export interface OpensslSpeed {
  readonly sign: number
  readonly verify: number
}

/** The result of `openssl speed` for P-256 on one core; undefined without openssl. */
export async function opensslSpeed(): Promise<OpensslSpeed | undefined> {
  try {
    const { stdout } = await promisify(execFile)('openssl', ['speed', '-seconds', '1', 'ecdsap256'], {
      timeout: 30_000,
    })
    const [, sign, verify] = /nistp256\)\s+\S+\s+\S+\s+([\d.]+)\s+([\d.]+)/.exec(stdout) ?? []
    return sign === undefined || verify === undefined
      ? undefined
      : { sign: Number(sign), verify: Number(verify) }
  } catch {
    return undefined
  }
}
