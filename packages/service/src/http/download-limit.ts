import type { DeploymentProfile } from '@agent-exchange/protocol'
import { Problem } from '../kernel/problem.ts'

const RETRY_SECONDS = 1

/** Takes a place for one download, or throws. Returns the function that frees it. */
export type DownloadLimit = (address: string | undefined) => () => void

/** O-13: downloads of artifacts in progress, by address and in total. A proxy has no address: it carries those of many. */
export function createDownloadLimit({ 'O-13': limits }: DeploymentProfile): DownloadLimit {
  const { artifact_downloads: total, artifact_downloads_per_address: perAddress } = limits
  const byAddress = new Map<string, number>()
  let used = 0
  return (address) => {
    const own = address === undefined ? 0 : (byAddress.get(address) ?? 0)
    if (own >= perAddress)
      throw new Problem('rate_limited', {
        quota: 'artifact_downloads_per_address',
        maximum: perAddress,
        retry_after_seconds: RETRY_SECONDS,
      })
    if (used >= total) throw new Problem('service_overloaded', { retry_after_seconds: RETRY_SECONDS })
    used += 1
    if (address !== undefined) byAddress.set(address, own + 1)
    return () => {
      used -= 1
      if (address === undefined) return
      const left = (byAddress.get(address) ?? 0) - 1
      if (left > 0) byAddress.set(address, left)
      else byAddress.delete(address)
    }
  }
}
