import { ask, postJson } from '../../http-client.js'
import type { Answered } from '../../http-client.js'

/** Follows an absolute URL that the service has given out. */
export function follow(url: string): Promise<Answered> {
  const { origin, pathname, search } = new URL(url)
  return ask(origin, { path: `${pathname}${search}` })
}

/** Posts to an absolute URL that the service has given out, for a user as the plugins name them. */
export function postTo(url: string, body: unknown, user: string): Promise<Answered> {
  const { origin, pathname, search } = new URL(url)
  return postJson(origin, `${pathname}${search}`, body, { 'x-spinnaker-user': user })
}

/** The string member of a JSON object. Throws an error with the whole response if it is missing. */
export function memberOf({ status, text }: Answered, name: string): string {
  const value = (JSON.parse(text) as Record<string, unknown>)[name]
  if (typeof value !== 'string' && typeof value !== 'number')
    throw new Error(`no ${name} in the answer ${status}: ${text}`)
  return String(value)
}
