package grpc

import (
	"errors"
	"fmt"
	"time"

	"dsbo/internal/guard"
	"dsbo/internal/wording"

	rpc "google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
)

func (l *links) newServer() *rpc.Server {
	creds, readBuffer := l.protection(l.serverSettings)
	s := rpc.NewServer(
		rpc.Creds(creds),
		rpc.ForceServerCodecV2(codec{}),
		rpc.MaxRecvMsgSize(l.maxMessage()),
		rpc.StaticStreamWindowSize(l.streamWindow()),
		rpc.StaticConnWindowSize(l.streamWindow()),
		rpc.ReadBufferSize(readBuffer),
		rpc.WriteBufferSize(bufferSize),
		rpc.MaxConcurrentStreams(1),
		rpc.MaxHeaderListSize(8<<10),
		rpc.ConnectionTimeout(handshakeTimeout),
		rpc.WaitForHandlers(true),
	)
	s.RegisterService(&service, l)
	return s
}

// accept serves one stream that a neighbour has opened.
func (l *links) accept(s rpc.ServerStream) error {
	p, ok := peer.FromContext(s.Context())
	if !ok {
		return status.Error(codes.Internal, "a stream from nowhere")
	}
	var e *edge
	h, err := l.awaitHello(s)
	if err == nil {
		e, err = l.admit(h, p.AuthInfo)
	}
	if err != nil {
		l.refuse(p.Addr, err)
		code := codes.PermissionDenied
		if _, strange := errors.AsType[*settingsError](err); strange {
			code = strangeCode
		}
		return status.Error(code, err.Error())
	}
	if conn := guard.ConnOf(p.Addr); conn != nil {
		conn.Admit()
		defer conn.Dismiss()
	}
	n := newSession(e, s, l.connectionExpiry(p.AuthInfo))
	if err := n.open(h); err != nil {
		return refusalOf(err)
	}
	l.m.mu.Lock()
	greeting := e.hello()
	l.m.mu.Unlock()
	if err := s.SendMsg(greeting); err != nil {
		return err
	}
	if _, err := n.run(); !endedInOrder(err) {
		return refusalOf(err)
	}
	return nil
}

// awaitHello returns the first frame of a stream.
func (l *links) awaitHello(s stream) (hello, error) {
	var f frame
	received := make(chan error, 1)
	l.work.Go(func() { received <- s.RecvMsg(&f) })
	t := time.NewTimer(handshakeTimeout)
	defer t.Stop()
	select {
	case err := <-received:
		if err != nil {
			return hello{}, err
		}
		return readHello(&f)
	case <-t.C:
		return hello{}, fmt.Errorf("no hello for %v", handshakeTimeout)
	case <-l.dialing.Done():
		return hello{}, errors.New("closed")
	}
}

// admit returns the edge to the agent that h comes from, and an error unless that is a neighbour of
// this run that has the right to connect.
func (l *links) admit(h hello, auth credentials.AuthInfo) (*edge, error) {
	if err := l.checkIdentity(h, auth); err != nil {
		return nil, err
	}
	e, err := l.m.neighbours.edgeFor(h)
	if err != nil {
		return nil, err
	}
	if err := l.checkHello(h); err != nil {
		e.noteRefusal(err)
		return nil, err
	}
	if l.m.config.dials(h.from) {
		return nil,
			fmt.Errorf(
				"agent %d connects to agent %d, but the other way is right: the one with the lower number connects, "+
					"or the one without an address",
				h.from, l.m.config.Agent)
	}
	return e, e.conduct.barred()
}

// noteRefusal notes why the neighbour is not connected though it is there: who ends as it is silent
// says so.
func (e *edge) noteRefusal(reason error) {
	e.m.mu.Lock()
	defer e.m.mu.Unlock()
	if e.session == nil {
		e.lastErr = errors.New(wording.Plain(reason.Error()))
		if _, strange := errors.AsType[*settingsError](reason); strange {
			e.strange = e.lastErr
		}
	}
}

// checkHello returns an error unless h is for this agent and of this run.
func (l *links) checkHello(h hello) error {
	c := &l.m.config
	switch {
	case h.to != c.Agent:
		return fmt.Errorf("agent %d takes agent %d for agent %d", h.from, c.Agent, h.to)
	case h.run != c.Run:
		return fmt.Errorf("agent %d is of run %q, agent %d of run %q", h.from, h.run, c.Agent, c.Run)
	}
	if err := l.m.checkSettings(h); err != nil {
		return err
	}
	switch {
	case h.form != c.form():
		return fmt.Errorf("agent %d exchanges %s, agent %d %s: Wire and Unmasked must be the same for all agents",
			h.from, h.form, c.Agent, c.form())
	}
	if err := c.checkCapabilities(h); err != nil {
		return err
	}
	if err := h.program.Mixable(fmt.Sprintf("agent %d", h.from), fmt.Sprintf("agent %d", c.Agent),
		c.Program); err != nil {
		return err
	}
	return l.m.checkKey(h)
}

// checkIdentity returns an error unless the certificate, if there has to be one, belongs to the
// agent of this run that the hello names.
func (l *links) checkIdentity(h hello, auth credentials.AuthInfo) error {
	id := l.m.identity()
	if id == nil {
		return nil
	}
	info, ok := auth.(credentials.TLSInfo)
	if !ok || len(info.State.PeerCertificates) == 0 {
		return errors.New("no certificate")
	}
	agent, err := id.Peer(info.State.PeerCertificates)
	if err != nil {
		return err
	}
	if agent != h.from {
		return fmt.Errorf("it claims to be agent %d, but shows the certificate of agent %d", h.from, agent)
	}
	return nil
}

// service describes the one method, a stream in both directions.
var service = rpc.ServiceDesc{
	ServiceName: "dsbo.Exchange",
	HandlerType: (*any)(nil),
	Streams: []rpc.StreamDesc{{
		StreamName:    "Frames",
		Handler:       func(m any, s rpc.ServerStream) error { return m.(*links).accept(s) },
		ServerStreams: true,
		ClientStreams: true,
	}},
}
