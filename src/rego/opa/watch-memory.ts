import { readFile } from 'node:fs/promises'

/** A program reads about 100 MB in this time. */
const INTERVAL_MS = 50
const RESIDENT = /^VmRSS:\s+(\d+) kB$/m
const KIB = 1024

/**
 * Calls `exceeded` when a process uses more than a number of bytes of memory. Works on Linux only.
 */
export function watchMemory(
  pid: number | undefined,
  maxBytes: number,
  exceeded: () => void,
): { readonly stop: () => void } {
  if (pid === undefined || process.platform !== 'linux') return { stop: () => undefined }
  const timer = setInterval(() => {
    void residentBytes(pid).then((bytes) => {
      if (bytes > maxBytes) exceeded()
    })
  }, INTERVAL_MS)
  return { stop: () => clearInterval(timer) }
}

/** 0 for a process that has ended. */
async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return Number(RESIDENT.exec(status)?.[1] ?? 0) * KIB
}
