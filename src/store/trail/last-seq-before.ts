interface KeptRecord {
  readonly seq: number
  readonly recordedMs: number
}

/**
 * The last record that was kept before a time, 0 when there is none; `select` gives the first record at a place or behind it. The
 * times of keeping only grow with the places, so that halving finds the border.
 */
export async function lastSeqBefore(
  select: (seq: number) => Promise<KeptRecord | undefined>,
  recordedMs: number,
  endSeq: number,
): Promise<number> {
  const first = ((await select(0))?.seq ?? endSeq + 1) - 1
  if (first >= endSeq) return 0
  let low = first
  let high = endSeq
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    const row = await select(middle)
    if (row !== undefined && row.recordedMs < recordedMs) low = middle
    else high = middle - 1
  }
  return low === first ? 0 : low
}
