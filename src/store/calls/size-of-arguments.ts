/** What a value takes in another thread. */
export interface TransferSize {
  /** Of its heap, roughly: text, and what each value costs beside its content. */
  readonly heapBytes: number
  /** Beside the heap: byte arrays. */
  readonly externalBytes: number
}

const BYTES_PER_VALUE = 16

/** Measures plain values (numbers, text, bytes, lists, objects) without recursion, and without copying them. */
export function sizeOfArguments(args: unknown): TransferSize {
  let [heapBytes, externalBytes] = [0, 0]
  const left: unknown[] = [args]
  while (left.length > 0) {
    const value = left.pop()
    heapBytes += BYTES_PER_VALUE
    if (typeof value === 'string') heapBytes += value.length
    else if (ArrayBuffer.isView(value)) externalBytes += value.byteLength
    else if (Array.isArray(value)) for (const member of value) left.push(member)
    else if (typeof value === 'object' && value !== null) {
      for (const member of Object.values(value)) left.push(member)
    }
  }
  return { heapBytes, externalBytes }
}
