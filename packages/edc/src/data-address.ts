/** Where published bytes lie for our own data plane. {@link DataAddressServer} is one. */
export interface DataAddressHost {
  /** Keeps the bytes and says where the data plane finds them. The same again is fine; other bytes are a conflict. */
  put(assetId: string, bytes: Uint8Array): Promise<HostedAddress>
  /**
   * From now on, and after a restart, the address answers 410. False where the bytes were never kept here: then
   * somebody else serves them, and nothing was blocked.
   */
  withdraw(assetId: string): Promise<boolean>
}

export interface HostedAddress {
  readonly url: string
  readonly headerName: string
  readonly headerValue: string
}
