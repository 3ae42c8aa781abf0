import { spawn } from 'node:child_process'

import { waitedForSeconds } from '../process-tree.js'

/** Node.js reads the certificates that this names at each start, for whatever it is started: 35 ms for those of a system. */
const ENVIRONMENT = { ...process.env, NODE_EXTRA_CA_CERTS: '' }
/** What ends soon is run so often, and the median taken: CPU is counted in hundredths of a second. */
const [SOON_SECONDS, RUNS] = [2, 7]

/** CPU seconds of a program that runs to its end, those of programs that it started included. Raises where it fails. Needs /proc. */
export async function cpuSecondsOf(command: readonly string[]): Promise<number> {
  const runs = [await secondsOfOne(command)]
  while ((runs[0] ?? 0) < SOON_SECONDS && runs.length < RUNS) runs.push(await secondsOfOne(command))
  return runs.sort((a, b) => a - b)[Math.floor(runs.length / 2)] ?? 0
}

async function secondsOfOne([program = '', ...args]: readonly string[]): Promise<number> {
  const before = waitedForSeconds()
  const child = spawn(program, args, { stdio: 'ignore', env: ENVIRONMENT })
  const code = await new Promise((resolve, reject) => child.once('exit', resolve).once('error', reject))
  if (code !== 0) throw new Error(`${program} ended with ${String(code)}`)
  return waitedForSeconds() - before
}
