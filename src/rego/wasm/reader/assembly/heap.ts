/** What one pass of the loop over values allocates at most, apart from the tables of containers. */
export const PASS_BYTES: usize = 256

const PAGE_BITS: usize = 16
/** Memory grows by a mebibyte at least, and by a share, where there may be so much: each growth has V8 collect garbage. */
const LEAST_PAGES: usize = 16
const SHARE_BITS: usize = 2

/** Where the next block goes between two values; inside `readValue` a local variable leads. */
export let heapEnd: usize = 0

export function setHeapEnd(address: usize): void {
  heapEnd = address
}

/** Whether the memory reaches to `length` bytes after `address`; grown when it did not. */
export function hasRoom(address: usize, length: usize): bool {
  const size = (memory.size() as usize) << PAGE_BITS
  if (address + length <= size) return true
  const missing = (address + length - size) >> PAGE_BITS
  for (let more = LEAST_PAGES + ((memory.size() as usize) >> SHARE_BITS); more > 1; more >>= 1) {
    if (memory.grow((missing + more) as i32) != -1) return true
  }
  return memory.grow((missing + 1) as i32) != -1
}
