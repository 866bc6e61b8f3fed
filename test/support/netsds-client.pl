# Sends with Debian's libnetsds-kannel-perl. Standard input is a JSON object: the address of sendsms, a login, and the messages
# with the parameters of NetSDS::Kannel->send. Prints its results as a JSON list; null for a refused message.
use strict;
use warnings;
use JSON::PP;
use NetSDS::Kannel;

local $/ = undef;
my $given = JSON::PP->new->utf8->decode(<STDIN>);
my $kannel = NetSDS::Kannel->new(
    sendsms_url    => $given->{url},
    sendsms_user   => $given->{username},
    sendsms_passwd => $given->{password},
);

my @results;
for my $message (@{ $given->{messages} }) {
    # The module escapes octets, not characters.
    my %fields = map { my $value = "$message->{$_}"; utf8::encode($value); $_ => $value } keys %$message;
    push @results, scalar $kannel->send(%fields);
}
print JSON::PP->new->encode(\@results);
