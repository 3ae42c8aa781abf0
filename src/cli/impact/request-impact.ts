import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { z } from 'zod'

import { AppError } from '../../errors/app-error.js'
import { ImpactResult } from '../../impact/impact-result.js'
import { ShadowView } from '../../impact/shadow-view.js'
import { Progress } from '../output/progress.js'
import { count } from '../output/text-table.js'
import type { ServiceClient } from '../session/service-client.js'
import type { Terminal } from '../session/terminal.js'

const Run = z.object({
  impactId: z.string(),
  state: z.enum(['running', 'done', 'failed']),
  progress: z.object({ phase: z.string(), seen: z.int(), flips: z.int() }),
  error: z
    .object({
      code: z.string(),
      message: z.string(),
      errors: z.array(
        z.object({
          code: z.string(),
          message: z.string(),
          location: z.object({ file: z.string(), row: z.int(), col: z.int() }).optional(),
        }),
      ),
    })
    .optional(),
  result: ImpactResult.optional(),
})

const POLL_MS = 500

/**
 * Runs a comparison at the service and waits for it. Raises the error of a failed one, with the
 * locations of problems below `paths`, the sent directories.
 */
export async function requestImpact(
  client: ServiceClient,
  body: object,
  paths: readonly string[],
  terminal: Terminal,
): Promise<ImpactResult> {
  const progress = new Progress(terminal)
  let run = await client.request(Run, { method: 'POST', path: '/policies/impact', body })
  while (run.state === 'running') {
    const { phase, seen, flips } = run.progress
    progress.show(
      phase === 'compiling'
        ? 'compiling policies …'
        : `compared ${count(seen, 'input')}, ${count(flips, 'flip')} …`,
    )
    await setTimeout(POLL_MS)
    run = await client.request(Run, { path: `/policies/impact/${run.impactId}` })
  }
  progress.end()
  if (run.result !== undefined) return run.result
  const { code, message, errors } = run.error ?? { code: undefined, message: 'it has no result', errors: [] }
  const details = errors.map(({ location, ...detail }) => ({
    ...detail,
    ...(location && { location: { ...location, file: sourceOf(location.file, paths) } }),
  }))
  throw new AppError('invalid', message, { ...(code !== undefined && { code }), details })
}

/** Returns what the shadow of a service found so far. Raises `unavailable` if it does not run. */
export async function readShadow(client: ServiceClient): Promise<ImpactResult> {
  const { state, result, error } = await client.request(ShadowView, { path: '/policies/shadow' })
  if (result !== undefined) return result
  const why = state === 'failed' ? (error ?? 'it failed') : 'its policies are being compiled; retry later'
  throw new AppError('unavailable', `the shadow does not run: ${why}`)
}

/** Returns the path of a file as the service names it: below the only directory, or a numbered one. */
function sourceOf(file: string, paths: readonly string[]): string {
  const [, index = '0', below = file] = /^(\d+)\/policies\/(.*)$/.exec(file) ?? []
  const root = paths[Number(index)]
  return root === undefined || root.endsWith('.rego') ? file : join(root, below)
}
