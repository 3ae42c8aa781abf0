import { ask } from './http-client.js'
import type { Answered } from './http-client.js'

/** A browser: follows redirects between the service and the provider, and keeps their cookies. */
export class Browser {
  readonly #cookies = new Map<string, Map<string, string>>()
  readonly #home: string

  constructor(home: string) {
    this.#home = home
  }

  async get(url: string): Promise<Answered & { readonly url: string }> {
    let target = new URL(url, this.#home)
    for (let hops = 0; hops < 12; hops += 1) {
      const answer = await this.#send('GET', target)
      const { location } = answer.headers
      if (location === undefined) return { ...answer, url: target.href }
      target = new URL(location, target)
    }
    throw new Error('too many redirects')
  }

  /** Goes one step, without following. */
  step(url: string): Promise<Answered> {
    return this.#send('GET', new URL(url, this.#home))
  }

  post(path: string, fields: Readonly<Record<string, string>>): Promise<Answered> {
    return this.#send('POST', new URL(path, this.#home), new URLSearchParams(fields).toString())
  }

  cookieNames(): readonly string[] {
    return [...(this.#cookies.get(new URL(this.#home).host)?.keys() ?? [])]
  }

  async #send(method: string, url: URL, body?: string): Promise<Answered> {
    const own = this.#cookies.get(url.host) ?? new Map<string, string>()
    this.#cookies.set(url.host, own)
    const cookie = [...own].map(([name, value]) => `${name}=${value}`).join('; ')
    const answer = await ask(url.origin, {
      ...{ method, path: url.pathname + url.search, body },
      headers: {
        ...{ host: url.host, accept: 'text/html', cookie },
        ...(body !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }),
      },
    })
    for (const line of answer.headers['set-cookie'] ?? []) {
      const [pair = '', ...attributes] = line.split('; ')
      const at = pair.indexOf('=')
      const isGone = attributes.some((each) => /^max-age=0$|^expires=Thu, 01 Jan 1970/i.test(each))
      if (isGone) own.delete(pair.slice(0, at))
      else own.set(pair.slice(0, at), pair.slice(at + 1))
    }
    return answer
  }
}
