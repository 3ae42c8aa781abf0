import { z } from 'zod'

import { AppError } from '../../errors/app-error.js'
import { nearestName } from '../../lib/text/nearest-name.js'
import type { ServiceClient } from '../session/service-client.js'

const Answer = z.object({ applications: z.array(z.looseObject({ name: z.string() })) })

/** An error about an application that the service does not know, with the name that was likely meant, where the caller may see it. */
export async function namingNear(raw: unknown, written: string, client: ServiceClient): Promise<unknown> {
  if (!(raw instanceof AppError) || raw.kind !== 'not_found') return raw
  // Who may start analyses need not be allowed to see the applications.
  const known = await client.ask(Answer, { path: '/applications' }).catch(() => ({ applications: [] }))
  const nearest = nearestName(
    written,
    known.applications.map(({ name }) => name),
  )
  if (nearest === undefined) return raw
  const { message, code, details } = raw
  return new AppError('not_found', `${message}; did you mean ${nearest}?`, { code, details, cause: raw })
}
