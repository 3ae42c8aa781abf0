import { readFileSync, readdirSync, readlinkSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Resource use of a service at one moment, summed over its processes. */
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
  const pids = [pid, ...workersOf(pid)]
  const statuses = pids.map((each) => readFileSync(`/proc/${each}/status`, 'utf8'))
  const figure = (name: string): number => {
    const pattern = new RegExp(`^${name}:\\s+(\\d+)`, 'm')
    return sum(statuses.map((status) => Number(pattern.exec(status)?.[1] ?? Number.NaN)))
  }
  return {
    residentMb: figure('VmRSS') / KIB_PER_MB,
    openFiles: sum(pids.map((each) => readdirSync(`/proc/${each}/fd`).length)),
    threads: figure('Threads'),
    dataMb: sum(readdirSync(dataDir).map((name) => sizeOf(join(dataDir, name)))) / BYTES_PER_MB,
  }
}

/**
 * The processes that a service has started of its own program: of others, compilers, it does not
 * have any for long.
 */
function workersOf(pid: number): number[] {
  const program = readlinkSync(`/proc/${pid}/exe`)
  const started = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean)
  return started.map(Number).filter((each) => programOf(each) === program)
}

function programOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/exe`)
  } catch {
    return undefined
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

/** SQLite removes its -wal and -shm files as it likes. */
function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}
