/** Where a JSON value stands in a text: the offset of its first byte and the offset after its last. */
export interface Extent {
  readonly start: number
  readonly end: number
}
