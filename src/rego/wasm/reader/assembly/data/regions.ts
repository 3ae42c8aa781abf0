/**
 * The memory in which base documents are built. It is separate from a policy module's memory and
 * holds, from the bottom: the table of shared values, the text being read, the pending members of
 * open containers, and the growing image. Addresses in the image are written as they will be in the
 * modules' memories.
 */
const TABLE_START: usize = 1 << 16
const TABLE_BITS_LEAST: u32 = 10
const TABLE_BITS_MOST: u32 = 19
/** Hash and address of up to four values. */
export const SLOT_BYTES: usize = 32
const END_BYTES: usize = 64
const PAGE_BITS: usize = 16
const MORE_PAGES: usize = 64
const SHARE_BITS: usize = 3
const LAST_ADDRESS: usize = 0xffff_0000

let tableBits: u32 = TABLE_BITS_LEAST
let text: usize = 0
let pending: usize = 0
let pendingLimit: usize = 0
let image: usize = 0
/** Difference between an address here and in a policy module. */
let shift: usize = 0
let end: usize = 0

/** Reserves the regions for texts of `textBytes` bytes; false if memory runs out. */
export function placeRegions(textBytes: usize, pendingBytes: usize, base: usize): bool {
  while (tableBits < TABLE_BITS_MOST && (1 as usize) << (tableBits + 5) < textBytes) tableBits++
  text = TABLE_START + ((1 as usize) << tableBits) * SLOT_BYTES
  pending = (text + textBytes + END_BYTES + 15) & ~15
  pendingLimit = pending + pendingBytes
  image = (pendingLimit + 15) & ~15
  if (textBytes > LAST_ADDRESS >> 2 || pendingBytes > LAST_ADDRESS >> 2) return false
  shift = image - base
  end = image
  return hasMemory(image)
}

/** Returns the slot of the table for values with this hash. */
export function slotOf(hash: u32): usize {
  return TABLE_START + (((hash * 0x9e3779b1) >> (32 - tableBits)) as usize) * SLOT_BYTES
}

export function textStart(): usize {
  return text
}

export function pendingStart(): usize {
  return pending
}

export function pendingEnd(): usize {
  return pendingLimit
}

export function imageStart(): usize {
  return image
}

export function imageEnd(): usize {
  return end
}

/** Converts an address in a policy module to one here. */
export function localAddress(address: usize): usize {
  return address + shift
}

/** Converts an address here to one in a policy module. */
export function moduleAddress(local: usize): usize {
  return local - shift
}

/** Allocates a multiple of four bytes. Returns their address, or 0. */
export function allocate(bytes: usize): usize {
  const local = end
  const rounded = (bytes + 3) & ~3
  if (rounded < bytes || local + rounded < local || !hasMemory(local + rounded)) return 0
  end = local + rounded
  return local
}

/** Frees the last allocation, from an address on. */
export function release(local: usize): void {
  end = local
}

function hasMemory(last: usize): bool {
  if (last > LAST_ADDRESS) return false
  const size = (memory.size() as usize) << PAGE_BITS
  if (last <= size) return true
  const missing = ((last - size) >> PAGE_BITS) + 1
  const most = (LAST_ADDRESS - size) >> PAGE_BITS
  const wanted = min(missing + MORE_PAGES + ((memory.size() as usize) >> SHARE_BITS), most)
  return memory.grow(wanted as i32) != -1 || memory.grow(missing as i32) != -1
}
