/** Stores published bytes for our own data plane. {@link DataAddressServer} implements it. */
export interface DataAddressHost {
  /** Stores the bytes and returns their address. Idempotent; other bytes under the same id are a conflict. */
  put(assetId: string, bytes: Uint8Array): Promise<HostedAddress>
  /**
   * The address answers 410 from now on, also after a restart. False if the bytes were never stored here: then nothing
   * was blocked.
   */
  withdraw(assetId: string): Promise<boolean>
}

export interface HostedAddress {
  readonly url: string
  readonly headerName: string
  readonly headerValue: string
}
