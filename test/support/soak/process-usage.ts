import { readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** What a process holds at one moment. */
export interface ProcessUsage {
  readonly residentMb: number
  readonly openFiles: number
  readonly threads: number
  /** All files of its data directory together. */
  readonly dataMb: number
}

const KIB_PER_MB = 1024
const BYTES_PER_MB = 1024 * 1024

/** Reads it from /proc (proc(5)), so on Linux only. */
export function processUsage(pid: number, dataDir: string): ProcessUsage {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const figure = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? Number.NaN)
  const sizes = readdirSync(dataDir).map((name) => sizeOf(join(dataDir, name)))
  return {
    residentMb: figure('VmRSS') / KIB_PER_MB,
    openFiles: readdirSync(`/proc/${pid}/fd`).length,
    threads: figure('Threads'),
    dataMb: sizes.reduce((sum, size) => sum + size, 0) / BYTES_PER_MB,
  }
}

/** SQLite removes its -wal and -shm files as it likes. */
function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}
