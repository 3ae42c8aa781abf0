import { parseArgs } from 'node:util'

import { soak } from '../../test/support/soak/soak.js'
import type { SoakSample } from '../../test/support/soak/soak.js'

const { values: flags } = parseArgs({
  options: {
    seconds: { type: 'string', default: '600' },
    rate: { type: 'string', default: '2000' },
    runaways: { type: 'string', default: '1' },
    writers: { type: 'string', default: '4' },
    'writer-pause': { type: 'string', default: '40' },
    reload: { type: 'string', default: '30' },
    export: { type: 'string', default: '15' },
    workers: { type: 'string' },
  },
})
const SETTLED_SHARE = 0.2
/** Memory is compared over the first and the last of so many parts of the time after that. */
const PARTS = 8
/** So long before, what never ends ceases: its thread is kept for a minute. */
const CALM_SECONDS = 70
const seconds = Number(flags.seconds)
const partSeconds = (seconds * (1 - SETTLED_SHARE)) / PARTS

/** Whether a second lies in one of the two parts that are compared, or shortly before. */
function isCalm(second: number): boolean {
  return [seconds * SETTLED_SHARE, seconds - partSeconds].some(
    (start) => second >= start - CALM_SECONDS && second <= start + partSeconds,
  )
}

function row({ second, residentMb, openFiles, threads, dataMb }: SoakSample): string {
  const cells = [`${second} s`, `${Math.round(residentMb)} MB`, openFiles, threads, `${dataMb.toFixed(1)} MB`]
  return `| ${cells.map((cell) => String(cell).padStart(9)).join(' | ')} |`
}

console.log('|      time |  resident |     files |   threads |      data |')
console.log('| --------- | --------- | --------- | --------- | --------- |')
const result = await soak({
  seconds,
  decisionsPerSecond: Number(flags.rate),
  writers: Number(flags.writers),
  writerPauseMs: Number(flags['writer-pause']),
  runawaysPerSecond: Number(flags.runaways),
  hasRunaways: (second) => !isCalm(second),
  reloadEverySeconds: Number(flags.reload),
  exportEverySeconds: Number(flags.export),
  workers: flags.workers === undefined ? undefined : Number(flags.workers),
  sampleEverySeconds: Math.max(1, seconds / 60),
  sampled: (sample) => console.log(row(sample)),
})
const { samples, decisions, failures, longestDecisionMs, exitCode } = result

function meanMb(part: readonly SoakSample[]): number {
  return part.reduce((sum, { residentMb }) => sum + residentMb, 0) / Math.max(1, part.length)
}

const settled = samples.filter(({ second }) => second >= seconds * SETTLED_SHARE)
const early = settled.slice(0, Math.ceil(settled.length / PARTS))
const late = settled.slice(-Math.ceil(settled.length / PARTS))
const growth = (meanMb(late) / meanMb(early) - 1) * 100
console.log(
  `${decisions} decisions, the longest ${Math.round(longestDecisionMs)} ms; ${failures.length} failures; exit ${exitCode}; ` +
    `memory ${Math.round(meanMb(early))} MB after ${seconds * SETTLED_SHARE} s, ${Math.round(meanMb(late))} MB at the end (${growth.toFixed(1)} %)`,
)
for (const failure of failures.slice(0, 20)) console.log(`  ${failure}`)
process.exitCode = failures.length === 0 && exitCode === 0 ? 0 : 1
