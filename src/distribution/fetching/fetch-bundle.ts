/** A request for the current bundle of a source. */
export interface FetchRequest {
  /** The version that the source gave with the last bundle, such as an ETag. */
  readonly known: string | undefined
  /** How long the server may wait for a change, in milliseconds; 0 for an immediate answer. */
  readonly waitMs: number
  readonly signal: AbortSignal
}

/** The answer of a source. */
export type FetchedBundle =
  | { readonly isChanged: false; readonly isLongPoll: boolean }
  | {
      readonly isChanged: true
      readonly bytes: Uint8Array
      /** Absent if the source gives no version; the bundle is then downloaded each time. */
      readonly version: string | undefined
      /** Who signed it, in addition to its own signature; absent if nobody did. */
      readonly signer?: string | undefined
      /** True if the server waits for changes when a request permits it. */
      readonly isLongPoll: boolean
    }

/** Fetches the current bundle. Raises `unavailable` with the reason. */
export type FetchBundle = (request: FetchRequest) => Promise<FetchedBundle>
