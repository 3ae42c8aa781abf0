/** Maximum allocation in one pass of the loop over values, without the tables of containers. */
export const PASS_BYTES: usize = 256

const PAGE_BITS: usize = 16
/** Minimum growth, since each growth triggers a garbage collection in V8. */
const MIN_PAGES: usize = 16
const SHARE_BITS: usize = 2

/** Address of the next block between two values; `readValue` uses a local variable instead. */
export let heapEnd: usize = 0

export function setHeapEnd(address: usize): void {
  heapEnd = address
}

/** Returns true if the memory reaches `length` bytes past `address`; grows it if needed. */
export function ensureMemory(address: usize, length: usize): bool {
  const size = (memory.size() as usize) << PAGE_BITS
  if (address + length <= size) return true
  const missing = (address + length - size) >> PAGE_BITS
  for (let more = MIN_PAGES + ((memory.size() as usize) >> SHARE_BITS); more > 1; more >>= 1) {
    if (memory.grow((missing + more) as i32) != -1) return true
  }
  return memory.grow((missing + 1) as i32) != -1
}
