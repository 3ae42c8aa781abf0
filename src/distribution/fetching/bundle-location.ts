import { shownUrl } from '../../lib/outbound/shown-url.js'
import type { SourceSignIn } from './sign-in.js'

/** How requests to a server are sent. Secrets and files of certificates are read. */
export interface ServerAccess {
  /** Sent with every request, never shown. */
  readonly headers: Readonly<Record<string, string>>
  readonly signIn?: SourceSignIn | undefined
  /** A file with a token that is read for each request, and the scheme before it. */
  readonly tokenFile?: { readonly path: string; readonly scheme: string } | undefined
  /** PEM. */
  readonly tls: {
    readonly ca?: string | undefined
    readonly cert?: string | undefined
    readonly key?: string | undefined
  }
  /** Time limit of a request, in milliseconds. */
  readonly timeoutMs: number
}

/** Where a source gets its bundle. */
export type BundleLocation =
  | { readonly type: 'http'; readonly url: string; readonly access: ServerAccess }
  | { readonly type: 'file'; readonly path: string }
  | {
      readonly type: 'oci'
      /** The registry. */
      readonly url: string
      readonly repository: string
      /** A tag or a digest. */
      readonly reference: string
      readonly tokenServer?: string | undefined
      readonly access: ServerAccess
    }
  | {
      readonly type: 'git'
      readonly url: string
      readonly ref: string
      readonly directory: string
      readonly allowedSigners?: string | undefined
      readonly timeoutMs: number
    }

/** Returns a text that identifies the place of a bundle, without credentials. */
export function placeOf(location: BundleLocation): string {
  switch (location.type) {
    case 'file':
      return location.path
    case 'http':
      return shownUrl(location.url)
    case 'oci':
      return `${shownUrl(location.url)} ${location.repository}:${location.reference}`
    case 'git':
      return `${URL.canParse(location.url) ? shownUrl(location.url) : location.url} ${location.ref} ${location.directory}`
  }
}
