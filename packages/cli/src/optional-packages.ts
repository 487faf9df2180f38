/** Packages that some commands need and that the command line installs without. */
export const SERVICE = '@agent-exchange/service'

export function isInstalled(name: typeof SERVICE): boolean {
  try {
    import.meta.resolve(name)
    return true
  } catch {
    return false
  }
}
