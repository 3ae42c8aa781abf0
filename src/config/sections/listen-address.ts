import ipaddr from 'ipaddr.js'

/** A TCP address of this machine. */
export interface PortAddress {
  /** A name or an IP address, without the brackets of IPv6. */
  readonly host: string
  /** 0 selects a free port. */
  readonly port: number
}

/** A Unix socket. */
interface SocketAddress {
  readonly path: string
}

/** An address to listen on. */
export type ListenAddress = PortAddress | SocketAddress

/** Form of an address, as the end of the sentence "must be …". */
export const LISTEN_ADDRESS_TEXT =
  'HOST:PORT, [ADDRESS]:PORT for IPv6, with a port from 0 to 65535, or unix:PATH for a socket'

const ADDRESS = /^(?:\[(?<bracketed>[^\]]+)\]|(?<plain>[^:[\]\s]+)):(?<port>\d{1,5})$/
const SOCKET = /^unix:(?:\/\/(?=\/))?(?<path>[^\0]+)$/
/** Limit of the socket path including its terminator (unix(7)), the lowest of all systems. */
const MAX_SOCKET_PATH_BYTES = 103

/** Parses `HOST:PORT`, `[::1]:PORT`, `unix:PATH` or `unix:///PATH`. Undefined for anything else. */
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

/** The host of an address. For a socket it is this machine. */
export function hostOfAddress(address: ListenAddress): string {
  return 'path' in address ? 'localhost' : address.host
}
