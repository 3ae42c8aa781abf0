/** From this length on the native copy is faster: it makes a view of the source first. */
const NATIVE_COPY_FROM = 192

/** Copies `start` to `end` of one buffer to `toStart` of another and gives the offset after it there. */
export function copyRange(from: Buffer, start: number, end: number, to: Buffer, toStart: number): number {
  if (end - start >= NATIVE_COPY_FROM) from.copy(to, toStart, start, end)
  else for (let i = start, j = toStart; i < end; i++, j++) to[j] = from[i] ?? 0
  return toStart + end - start
}
