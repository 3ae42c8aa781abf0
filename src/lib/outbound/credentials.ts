import { Buffer } from 'node:buffer'

/** A text that shows itself only when it is asked for: neither JSON, nor a log, nor an error message holds it. */
export class Secret {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  reveal(): string {
    return this.#text
  }
}

/** How a request says who sends it. */
export type Credentials =
  | { readonly type: 'bearer'; readonly token: Secret }
  | { readonly type: 'basic'; readonly username: string; readonly password: Secret }
  | { readonly type: 'header'; readonly name: string; readonly value: Secret }
  | {
      readonly type: 'headers'
      readonly headers: readonly { readonly name: string; readonly value: Secret }[]
    }

/** The headers that carry credentials: RFC 6750 for a bearer, RFC 7617 (UTF-8) for a name with a password. */
export function authHeaders(credentials: Credentials | undefined): Record<string, string> {
  switch (credentials?.type) {
    case undefined:
      return {}
    case 'bearer':
      return { authorization: `Bearer ${credentials.token.reveal()}` }
    case 'basic': {
      const pair = `${credentials.username}:${credentials.password.reveal()}`
      return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` }
    }
    case 'header':
      return { [credentials.name.toLowerCase()]: credentials.value.reveal() }
    case 'headers':
      return Object.fromEntries(
        credentials.headers.map(({ name, value }) => [name.toLowerCase(), value.reveal()]),
      )
  }
}
