package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// bucket is one place in S3.
type bucket struct {
	client       *minio.Client
	name, prefix string
	host         string
}

func openBucket(address string) (*bucket, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "s3" || u.Host == "" {
		return nil, errors.New("the address has the form s3://KEY:SECRET@HOST/BUCKET[/PREFIX][?region=R&insecure=1]")
	}
	name, prefix, _ := strings.Cut(strings.Trim(u.Path, "/"), "/")
	if name == "" {
		return nil, errors.New("the address s3://" + u.Host + " names no bucket")
	}
	keys := credentials.NewEnvAWS()
	if secret, ok := u.User.Password(); ok {
		keys = credentials.NewStaticV4(u.User.Username(), secret, "")
	}
	query := u.Query()
	client, err := minio.New(u.Host, &minio.Options{Creds: keys, Secure: query.Get("insecure") == "", Region: query.Get("region"),
		BucketLookup: minio.BucketLookupAuto})
	if err != nil {
		return nil, fmt.Errorf("s3 at %s: %w", u.Host, err)
	}
	return &bucket{client, name, prefix, u.Host}, nil
}

// String names the bucket, without credentials.
func (b *bucket) String() string { return "s3://" + path.Join(b.host, b.name, b.prefix) }

// s3 is a space in a bucket.
type s3 struct {
	*bucket
	space, tmp string
}

func (s *s3) key(sha string) string {
	return path.Join(s.prefix, s.space, sha[:2], sha[2:4], sha)
}

// Put stores what r holds.
func (s *s3) Put(ctx context.Context, r io.Reader) (Info, error) { return s.put(ctx, r, "", 0) }

// PutAs stores what r holds when it is what was announced.
func (s *s3) PutAs(ctx context.Context, sha string, size int64, r io.Reader) error {
	if !IsSHA256(sha) {
		return ErrMismatch
	}
	_, err := s.put(ctx, r, sha, size)
	return err
}

// put spools first: the key is not known before the content is read.
func (s *s3) put(ctx context.Context, r io.Reader, sha string, size int64) (info Info, err error) {
	name, info, err := spool(ctx, s.tmp, r, sha, size)
	if err != nil {
		return info, fmt.Errorf("put blob: %w", err)
	}
	defer func() { err = errors.Join(err, os.Remove(name)) }()
	f, err := os.Open(name)
	if err != nil {
		return info, err
	}
	defer f.Close() //nolint:errcheck // read only
	_, err = s.client.PutObject(ctx, s.name, s.key(info.SHA256), f, info.Size,
		minio.PutObjectOptions{ContentType: "application/octet-stream"})
	return info, s.wrap("put", err)
}

// wrap turns S3's answer for what is not there into ErrNotFound.
func (s *s3) wrap(verb string, err error) error {
	if err == nil {
		return nil
	}
	if r := minio.ToErrorResponse(err); r.StatusCode == http.StatusNotFound && r.Code != minio.NoSuchBucket {
		return ErrNotFound
	}
	return fmt.Errorf("%s blob in %s: %w", verb, s.bucket, err)
}

// Open opens a blob; reading and seeking asks S3 for ranges.
func (s *s3) Open(ctx context.Context, sha string) (io.ReadSeekCloser, Info, error) {
	if !IsSHA256(sha) {
		return nil, Info{}, ErrNotFound
	}
	o, err := s.client.GetObject(ctx, s.name, s.key(sha), minio.GetObjectOptions{})
	if err != nil {
		return nil, Info{}, s.wrap("open", err)
	}
	stat, err := o.Stat()
	if err != nil {
		return nil, Info{}, errors.Join(s.wrap("open", err), o.Close())
	}
	return o, Info{sha, stat.Size, stat.LastModified}, nil
}

// Stat describes a blob.
func (s *s3) Stat(ctx context.Context, sha string) (Info, error) {
	if !IsSHA256(sha) {
		return Info{}, ErrNotFound
	}
	stat, err := s.client.StatObject(ctx, s.name, s.key(sha), minio.StatObjectOptions{})
	if err != nil {
		return Info{}, s.wrap("stat", err)
	}
	return Info{sha, stat.Size, stat.LastModified}, nil
}

// Delete removes a blob.
func (s *s3) Delete(ctx context.Context, sha string) error {
	if !IsSHA256(sha) {
		return nil
	}
	err := s.wrap("delete", s.client.RemoveObject(ctx, s.name, s.key(sha), minio.RemoveObjectOptions{}))
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// Each calls fn with every blob.
func (s *s3) Each(ctx context.Context, fn func(Info) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the listing
	for o := range s.client.ListObjects(ctx, s.name, minio.ListObjectsOptions{Prefix: path.Join(s.prefix, s.space) + "/", Recursive: true}) {
		if o.Err != nil {
			return s.wrap("list", o.Err)
		}
		if sha := path.Base(o.Key); IsSHA256(sha) {
			if err := fn(Info{sha, o.Size, o.LastModified}); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}
