import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import type { BenchBody } from './bodies.js'

const run = promisify(execFile)

/** What one drive measured. */
export interface LoadResult {
  readonly requestsPerSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Answers other than 2xx, and broken connections. */
  readonly failures: number
}

export interface LoadOptions {
  readonly url: string
  /** What is asked again and again: a GET where there is no body. */
  readonly body: Pick<BenchBody, 'path'> & Partial<BenchBody>
  readonly seconds: number
  readonly connections: number
  /** The core that the generator is pinned to, or a range of them as `taskset` takes it. */
  readonly core: number | string
  /** Where scripts are put. */
  readonly directory: string
  /** Whether every request has a connection of its own. */
  readonly connectsAnew?: boolean
}

/** The result that a server gives for a body, as JSON text. */
export async function ask(url: string, { path, body }: BenchBody): Promise<string> {
  const response = await fetch(url + path, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json' },
  })
  const { result } = (await response.json()) as { result?: unknown }
  return JSON.stringify(result)
}

/** Drives a server with wrk: as many requests as it answers on a fixed number of connections. */
export async function drive({
  url,
  body,
  seconds,
  connections,
  core,
  directory,
  connectsAnew = false,
}: LoadOptions): Promise<LoadResult> {
  const script = join(directory, 'post.lua')
  await writeFile(script, wrkScript(body.body, connectsAnew))
  return await driveScript({ script, url: url + body.path, seconds, connections, core })
}

/** The same with a wrk script of the caller's, whose `done` prints what `readReport` reads. */
export async function driveScript({
  script,
  url,
  seconds,
  connections,
  core,
}: Pick<LoadOptions, 'url' | 'seconds' | 'connections' | 'core'> & {
  readonly script: string
}): Promise<LoadResult> {
  const wrk = ['wrk', '-t1', `-c${connections}`, `-d${seconds}s`, '--latency', '-s', script, url]
  const { stdout } = await run('taskset', ['-c', String(core), ...wrk])
  return readReport(stdout)
}

/** The end of a wrk script: prints the line of figures that is read back. */
export const WRK_REPORT: readonly string[] = [
  'done = function(summary, latency)',
  '  io.write(string.format("p50=%d p99=%d requests=%d duration=%d failures=%d\\n",',
  '    latency:percentile(50), latency:percentile(99), summary.requests, summary.duration,',
  '    summary.errors.status + summary.errors.connect + summary.errors.read + summary.errors.timeout))',
  'end',
]

function wrkScript(body: string | undefined, connectsAnew: boolean): string {
  const post = [
    'wrk.method = "POST"',
    'wrk.headers["Content-Type"] = "application/json"',
    `wrk.body = [==[${body ?? ''}]==]`,
  ]
  const close = connectsAnew ? ['wrk.headers["Connection"] = "close"'] : []
  return [...(body === undefined ? [] : post), ...close, ...WRK_REPORT].join('\n')
}

/** wrk gives microseconds. */
function readReport(stdout: string): LoadResult {
  const groups =
    /p50=(?<p50>\d+) p99=(?<p99>\d+) requests=(?<requests>\d+) duration=(?<duration>\d+) failures=(?<failures>\d+)/.exec(
      stdout,
    )?.groups
  if (groups === undefined) throw new Error(`wrk printed no figures:\n${stdout}`)
  const figure = (name: string): number => Number(groups[name])
  return {
    requestsPerSecond: (figure('requests') / figure('duration')) * 1e6,
    p50Ms: figure('p50') / 1000,
    p99Ms: figure('p99') / 1000,
    failures: figure('failures'),
  }
}
