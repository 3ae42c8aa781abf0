import ipaddr from 'ipaddr.js'

/** A port of this machine. */
export interface PortAddress {
  /** A name or an IP address, without the brackets of IPv6. */
  readonly host: string
  /** 0 lets the system choose. */
  readonly port: number
}

/** A socket of the file system. */
interface SocketAddress {
  readonly path: string
}

/** Where a server listens. */
export type ListenAddress = PortAddress | SocketAddress

/** The form of an address, as the end of the sentence "must be …". */
export const LISTEN_ADDRESS_TEXT =
  'HOST:PORT, [ADDRESS]:PORT for IPv6, with a port from 0 to 65535, or unix:PATH for a socket'

const ADDRESS = /^(?:\[(?<bracketed>[^\]]+)\]|(?<plain>[^:[\]\s]+)):(?<port>\d{1,5})$/
const SOCKET = /^unix:(?:\/\/(?=\/))?(?<path>[^\0]+)$/
/** What the system takes, with its end (unix(7); the shortest of all systems). */
const MAX_SOCKET_PATH_BYTES = 103

/** Reads `HOST:PORT`, `[::1]:PORT`, `unix:PATH` or `unix:///PATH`; undefined when the text is none of them. */
export function parseListenAddress(text: string): ListenAddress | undefined {
  const path = SOCKET.exec(text)?.groups?.['path']
  if (path !== undefined) return Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES ? { path } : undefined
  const groups = ADDRESS.exec(text)?.groups
  if (groups === undefined) return undefined
  const { bracketed, plain } = groups
  const port = Number(groups['port'])
  const host = bracketed ?? plain ?? ''
  if (port > 65_535 || (bracketed !== undefined && !ipaddr.IPv6.isValid(bracketed))) return undefined
  return { host, port }
}

/** Whether only programs on this machine can reach the host. */
export function isLoopback(host: string): boolean {
  if (host.toLowerCase() === 'localhost') return true
  return ipaddr.isValid(host) && ipaddr.process(host).range() === 'loopback'
}

/** Whether only programs on this machine can reach the address. */
export function isLocalAddress(address: ListenAddress): boolean {
  return 'path' in address || isLoopback(address.host)
}

/** The host of an address; that of a socket is this machine. */
export function hostOfAddress(address: ListenAddress): string {
  return 'path' in address ? 'localhost' : address.host
}
