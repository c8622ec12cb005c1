package session

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"time"

	"dsbo/network/pki"

	rpc "google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
)

// method is the name under which a client asks for it.
const method = "/dsbo.Session/Frames"

// service describes the one method, a stream in both directions.
var service = rpc.ServiceDesc{
	ServiceName: "dsbo.Session",
	HandlerType: (*any)(nil),
	Streams: []rpc.StreamDesc{{
		StreamName:    "Frames",
		Handler:       func(m any, s rpc.ServerStream) error { return m.(*links).accept(s) },
		ServerStreams: true,
		ClientStreams: true,
	}},
}

// newServer returns the gRPC server, with bounds on messages, windows and headers that hold for
// strangers too.
func (l *links) newServer() *rpc.Server {
	creds, readBuffer := l.protection(l.serverSettings)
	s := rpc.NewServer(
		rpc.Creds(creds),
		rpc.ForceServerCodecV2(l.codec()),
		rpc.MaxRecvMsgSize(l.maxMessage()),
		rpc.StaticStreamWindowSize(l.streamWindow()),
		rpc.StaticConnWindowSize(l.streamWindow()),
		rpc.ReadBufferSize(readBuffer),
		rpc.WriteBufferSize(bufferSize),
		rpc.MaxConcurrentStreams(1),
		rpc.MaxHeaderListSize(8<<10),
		rpc.ConnectionTimeout(handshakeTimeout),
		rpc.WaitForHandlers(true),
		rpc.UnknownServiceHandler(l.refuseProtocol),
	)
	s.RegisterService(&service, l)
	return s
}

// refuseProtocol refuses a stream of another name than method, as another version opens. The log
// and, if it is a neighbour's, the host learn it.
func (l *links) refuseProtocol(_ any, s rpc.ServerStream) error {
	p, _ := peer.FromContext(s.Context()) // each stream of a server has one
	name, _ := rpc.MethodFromServerStream(s)
	err := &settingsError{fmt.Errorf("it exchanges by %.60q, agent %d by %s: all agents must have the same program",
		name, l.config.Agent, method)}
	l.refuse(p.Addr, err)
	if agent, known := l.peerOf(p.AuthInfo); known == nil {
		l.host.refused(agent, err)
	}
	return statusOf(err, refusedCode)
}

// accept serves one stream that a neighbour has opened, until it ends. The error is the status by
// which the neighbour learns why.
func (l *links) accept(s rpc.ServerStream) error {
	p, _ := peer.FromContext(s.Context())
	c, err := l.admit(s, p.AuthInfo)
	if err != nil {
		if removed, is := errors.AsType[*removedError](err); is {
			_ = s.SendMsg(l.greet(removed.agent)) // with the removal, by which it ends; the stream ends anyway
		}
		l.refuse(p.Addr, err)
		return statusOf(err, refusedCode)
	}
	if known := pki.ConnOf(p.Addr); known != nil { // nil: a listener of a test's own
		known.Admit()
		defer known.Dismiss() // its next stream, if any, must say hello again
	}
	if err := s.SendMsg(l.greet(c.to)); err != nil {
		l.host.detach(c, err)
		return err
	}
	if _, err = l.run(c); err == nil || err == io.EOF { // in good order
		return nil
	}
	return statusOf(err, codes.Aborted)
}

// admit returns the connection to the neighbour that a stream comes from, which has it from then
// on.
func (l *links) admit(s stream, auth credentials.AuthInfo) (*conn, error) {
	id := l.identity() // of before the hello: run drops the connection if it is renewed meanwhile
	h, err := l.awaitHello(s)
	if err != nil {
		return nil, err
	}
	if err := l.check(h, auth); err != nil {
		return nil, err
	}
	c := l.newConn(h.From, s, id, auth)
	return c, l.host.attach(c, h)
}

// awaitHello returns the hello with which a stream must begin, within handshakeTimeout. RecvMsg has
// no time of its own: its goroutine ends with the stream.
func (l *links) awaitHello(s stream) (hello, error) {
	var f received
	came := make(chan error, 1)
	l.work.Go(func() { came <- s.RecvMsg(&f) })
	t := time.NewTimer(handshakeTimeout)
	defer t.Stop()
	select {
	case err := <-came:
		if err != nil {
			return hello{}, err
		}
		return readHello(&f.frame)
	case <-t.C:
		return hello{}, fmt.Errorf("no hello for %v", handshakeTimeout)
	case <-l.closing.Done():
		return hello{}, errors.New("closed")
	}
}

// check returns an error unless a hello comes from an agent that has the right to connect now.
func (l *links) check(h hello, auth credentials.AuthInfo) error {
	if err := l.checkIdentity(h, auth); err != nil {
		return err
	}
	if err := cmp.Or(l.checkHello(h), l.checkDirection(h.From)); err != nil {
		l.host.refused(h.From, err)
		return err
	}
	return l.host.admit(h)
}

// checkIdentity returns an error unless the certificate, if there has to be one, belongs to the
// agent of this run that the hello names.
func (l *links) checkIdentity(h hello, auth credentials.AuthInfo) error {
	if l.identity() == nil {
		return nil
	}
	agent, err := l.peerOf(auth)
	if err == nil && agent != h.From {
		err = fmt.Errorf("it claims to be agent %d, but shows the certificate of agent %d", h.From, agent)
	}
	return err
}

// peerOf returns the agent of this run whose certificate a connection has. This agent has one too.
func (l *links) peerOf(auth credentials.AuthInfo) (agent int, err error) {
	theirs := stateOf(auth).PeerCertificates
	if len(theirs) == 0 {
		return 0, errors.New("no certificate")
	}
	return l.identity().Peer(theirs)
}

// stateOf returns the TLS state of a connection; the zero value without TLS.
func stateOf(auth credentials.AuthInfo) tls.ConnectionState {
	info, _ := auth.(credentials.TLSInfo)
	return info.State
}
